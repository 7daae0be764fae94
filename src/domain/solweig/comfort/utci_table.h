/* utci_table.h - the published polynomial of utci.c. */
#ifndef QN_SW_UTCI_TABLE_H
#define QN_SW_UTCI_TABLE_H

typedef struct qn_sw_utci_term {
    double factor;
    int ta, va, dt, pa; /* powers */
} qn_sw_utci_term;

enum { QN_SW_UTCI_TERMS = 210, QN_SW_UTCI_DEGREE = 6 };

extern const qn_sw_utci_term qn_sw_utci_terms[QN_SW_UTCI_TERMS];

#endif
