/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The formulas of one cell, in the language that C and OpenCL C share: this text is included by the
 * C files, and it stands in front of the kernels of melt-opencl, so that there is one source of the
 * physics.
 *
 * An aluminium casting alloy melts over a range of temperatures. The state variable is the
 * enthalpy; the temperature follows from it. In the range the liquid fraction obeys Scheil's
 * equation (E. Scheil, Z. Metallkunde 34, 1942; the fraction at the solidus is what is left for the
 * eutectic, spread evenly over the lower part of the range) and the temperature must be found by
 * Newton's method, which makes such a cell many times dearer than one that is all solid or all
 * liquid.
 */
#ifndef MELT_PHYSICS_H
#define MELT_PHYSICS_H

#ifndef __OPENCL_VERSION__
#include <math.h>
#endif

/* The eutectic melts over this range above the solidus instead of at one temperature. */
#define EUTECTIC_K 6.0

/* --- the material ----------------------------------------------------------------------------- */

struct material {
	double density;                    /* kg/m3 */
	double heat_solid, heat_liquid;    /* J/(kg K) */
	double latent;                     /* J/kg */
	double conduct_solid, conduct_liquid; /* W/(m K) */
	double solidus, liquidus;          /* K: melting begins, ends */
	/* K: melting point of the pure metal, above the liquidus */
	double pure;
	double partition;                  /* Scheil's partition coefficient */
	/* 0: never, whatever the temperature; for the linear test case */
	int melts;
};

struct material_point {
	double temperature; /* K */
	double conduct;     /* W/(m K) */
	double capacity;    /* dH/dT, J/(m3 K) */
	double liquid;      /* liquid fraction, 0 to 1 */
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

/* Sensible heat: solid below the solidus, liquid above the liquidus, the mean of both in
 * between. */
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

static inline double enthalpy_and_slope(const struct material *m, double temperature, double *slope)
{
	double heat_slope, fraction_slope = 0;
	const double heat = sensible_heat(m, temperature, &heat_slope);
	const double fraction = m->melts ? liquid_fraction(m, temperature, &fraction_slope) : 0;

	*slope = m->density * (heat_slope + m->latent * fraction_slope);
	return m->density * (heat + m->latent * fraction);
}

/* Enthalpy, J/m3 above 0 K, at a temperature. */
static inline double material_enthalpy(const struct material *material, double temperature)
{
	double slope;

	return enthalpy_and_slope(material, temperature, &slope);
}

/* 1 when the enthalpy lies in the melting range. */
static inline int material_is_mushy(const struct material *material, double enthalpy)
{
	return material->melts && enthalpy > material_enthalpy(material, material->solidus) &&
	       enthalpy < material_enthalpy(material, material->liquidus);
}

/* Newton's method kept inside a shrinking bracket: the enthalpy rises strictly with the
 * temperature, with kinks. */
static inline double invert_mushy(const struct material *m, double enthalpy, double *capacity)
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

static inline double invert_linear(const struct material *m, double enthalpy, double *capacity)
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

/* State at an enthalpy. */
static inline void material_state(const struct material *material, double enthalpy,
				  struct material_point *point)
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

/* --- heat that enters a cell ------------------------------------------------------------------ */

/* A wall that exchanges heat with a bath through a film; film 0 is an insulated wall. */
struct wall {
	double film; /* W/(m2 K) */
	double bath; /* K */
};

/* A torch: heat set free in a Gaussian spot that moves along the middle of the bottom wall. */
struct torch {
	double power;  /* W */
	double radius; /* m */
	double speed;  /* of the spot, box lengths per second */
};

/* Two half cells in series. */
static inline double face_conductance(double conduct_a, double conduct_b, double cell_m)
{
	return cell_m * 2 * conduct_a * conduct_b / (conduct_a + conduct_b);
}

/* The film of a wall and half a cell in series; W/K for one face. */
static inline double wall_conductance(const struct wall *wall, double conduct, double cell_m)
{
	if (wall->film <= 0)
		return 0;
	return cell_m * cell_m / (1 / wall->film + cell_m / (2 * conduct));
}

/* W set free in a cell of the lowest planes: the spot's share of the cell's base, spread over the
 * depth of the radius. */
static inline double torch_heat(const struct torch *torch, double cell_m, int nx, int ny, int x,
				int y, int z_global, double time_s)
{
	const double length = cell_m * nx, width = cell_m * ny;
	const double px = (x + 0.5) * cell_m - length * (0.25 + torch->speed * time_s);
	const double py = (y + 0.5) * cell_m - 0.5 * width;
	const double pz = (z_global + 0.5) * cell_m;
	const double r2 = torch->radius * torch->radius;
	const double spot = exp(-(px * px + py * py) / r2) / (3.14159265358979323846 * r2);
	const double depth = exp(-pz / torch->radius) / torch->radius;

	return torch->power * spot * depth * (cell_m * cell_m * cell_m);
}

#endif
