/* perez_tables.h - the published coefficients behind perez.c. */
#ifndef QN_SW_PEREZ_TABLES_H
#define QN_SW_PEREZ_TABLES_H

enum { QN_SW_PEREZ_CLASSES = 8, QN_SW_PEREZ_LETTERS = 5 };

extern const double qn_sw_perez[QN_SW_PEREZ_CLASSES][QN_SW_PEREZ_LETTERS][4];

#endif
