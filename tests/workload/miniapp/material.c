/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Enthalpy, temperature and conductivity of the alloy. See material.h. Scheil's equation: E. Scheil, Z. Metallkunde 34 (1942);
 * the fraction at the solidus is what is left for the eutectic, spread evenly over the lower part of the range.
 */
#include "material.h"

#include <math.h>

/* The eutectic melts over this range above the solidus instead of at one temperature. */
#define EUTECTIC_K 6.0

const struct material material_alloy = {
	.density = 2680,
	.heat_solid = 963,
	.heat_liquid = 1160,
	.latent = 389e3,
	.conduct_solid = 159,
	.conduct_liquid = 66,
	.solidus = 833,
	.liquidus = 888,
	.pure = 933,
	.partition = 0.13,
	.melts = 1,
};

const struct material material_linear = {
	.density = 2680,
	.heat_solid = 963,
	.heat_liquid = 963,
	.conduct_solid = 159,
	.conduct_liquid = 159,
	.solidus = 833,
	.liquidus = 888,
	.pure = 933,
	.partition = 0.13,
	.melts = 0,
};

/* Scheil: fraction of liquid between the eutectic and the liquidus, and its derivative. */
static inline double scheil(const struct material *m, double temperature, double *slope)
{
	const double exponent = -1.0 / (1.0 - m->partition);
	const double ratio = (m->pure - temperature) / (m->pure - m->liquidus);
	const double fraction = pow(ratio, exponent);

	*slope = -exponent * fraction / (m->pure - temperature);
	return fraction;
}

static inline double liquid_fraction(const struct material *m, double temperature, double *slope)
{
	const double knee = m->solidus + EUTECTIC_K;
	double at_knee;

	*slope = 0;
	if (temperature <= m->solidus)
		return 0;
	if (temperature >= m->liquidus)
		return 1;
	if (temperature >= knee)
		return scheil(m, temperature, slope);
	at_knee = scheil(m, knee, slope);
	*slope = at_knee / EUTECTIC_K;
	return at_knee * (temperature - m->solidus) / EUTECTIC_K;
}

/* Sensible heat: solid below the solidus, liquid above the liquidus, the mean of both in between. */
static inline double sensible_heat(const struct material *m, double temperature, double *slope)
{
	const double middle = 0.5 * (m->heat_solid + m->heat_liquid);
	const double at_solidus = m->heat_solid * m->solidus;
	const double at_liquidus = at_solidus + middle * (m->liquidus - m->solidus);

	if (temperature <= m->solidus) {
		*slope = m->heat_solid;
		return m->heat_solid * temperature;
	}
	if (temperature >= m->liquidus) {
		*slope = m->heat_liquid;
		return at_liquidus + m->heat_liquid * (temperature - m->liquidus);
	}
	*slope = middle;
	return at_solidus + middle * (temperature - m->solidus);
}

static double enthalpy_and_slope(const struct material *m, double temperature, double *slope)
{
	double heat_slope, fraction_slope = 0;
	const double heat = sensible_heat(m, temperature, &heat_slope);
	const double fraction = m->melts ? liquid_fraction(m, temperature, &fraction_slope) : 0;

	*slope = m->density * (heat_slope + m->latent * fraction_slope);
	return m->density * (heat + m->latent * fraction);
}

double material_enthalpy(const struct material *material, double temperature)
{
	double slope;

	return enthalpy_and_slope(material, temperature, &slope);
}

int material_is_mushy(const struct material *material, double enthalpy)
{
	return material->melts && enthalpy > material_enthalpy(material, material->solidus) &&
	       enthalpy < material_enthalpy(material, material->liquidus);
}

/* Newton's method kept inside a shrinking bracket: the enthalpy rises strictly with the temperature, with kinks. */
static double invert_mushy(const struct material *m, double enthalpy, double *capacity)
{
	double low = m->solidus, high = m->liquidus;
	double temperature = 0.5 * (low + high);

	for (int i = 0; i < 60; i++) {
		const double error = enthalpy_and_slope(m, temperature, capacity) - enthalpy;
		double next;

		if (fabs(error) <= 1e-12 * enthalpy)
			break;
		if (error > 0)
			high = temperature;
		else
			low = temperature;
		next = temperature - error / *capacity;
		if (!(next > low && next < high))
			next = 0.5 * (low + high);
		temperature = next;
	}
	return temperature;
}

static double invert_linear(const struct material *m, double enthalpy, double *capacity)
{
	const double specific = enthalpy / m->density;
	const double at_solidus = m->heat_solid * m->solidus;

	if (!m->melts || specific <= at_solidus) {
		*capacity = m->density * m->heat_solid;
		return specific / m->heat_solid;
	}
	*capacity = m->density * m->heat_liquid;
	return m->liquidus + (enthalpy - material_enthalpy(m, m->liquidus)) / *capacity;
}

void material_state(const struct material *material, double enthalpy, struct material_point *point)
{
	double slope;

	if (material_is_mushy(material, enthalpy))
		point->temperature = invert_mushy(material, enthalpy, &point->capacity);
	else
		point->temperature = invert_linear(material, enthalpy, &point->capacity);
	point->liquid = material->melts ? liquid_fraction(material, point->temperature, &slope) : 0;
	point->conduct = material->conduct_solid +
			 point->liquid * (material->conduct_liquid - material->conduct_solid);
}
