/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An aluminium casting alloy that melts over a range of temperatures. The state variable is the enthalpy; the temperature
 * follows from it. In the range the liquid fraction obeys Scheil's equation and the temperature must be found by Newton's
 * method, which makes such a cell many times dearer than one that is all solid or all liquid.
 */
#ifndef MELT_MATERIAL_H
#define MELT_MATERIAL_H

struct material {
	double density;                    /* kg/m3 */
	double heat_solid, heat_liquid;    /* J/(kg K) */
	double latent;                     /* J/kg */
	double conduct_solid, conduct_liquid; /* W/(m K) */
	double solidus, liquidus;          /* K: melting begins, ends */
	double pure;                       /* K: melting point of the pure metal, above the liquidus */
	double partition;                  /* Scheil's partition coefficient */
	int melts;                         /* 0: never, whatever the temperature; for the linear test case */
};

struct material_point {
	double temperature; /* K */
	double conduct;     /* W/(m K) */
	double capacity;    /* dH/dT, J/(m3 K) */
	double liquid;      /* liquid fraction, 0 to 1 */
};

extern const struct material material_alloy;
extern const struct material material_linear;

/* Enthalpy, J/m3 above 0 K, at a temperature. */
double material_enthalpy(const struct material *material, double temperature);

/* State at an enthalpy. */
void material_state(const struct material *material, double enthalpy, struct material_point *point);

/* 1 when the enthalpy lies in the melting range. */
int material_is_mushy(const struct material *material, double enthalpy);

#endif
