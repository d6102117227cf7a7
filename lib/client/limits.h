/* What the network side takes at most, and how long it waits. Everything that comes in is hostile until it is within these.
 * How long a body may be is for who takes it: eight pods of one tenant fill a page of a list with 70 MB, and only who splits it
 * into its objects can tell that none of them is too long. */
#ifndef OSTLER_CLIENT_LIMITS_H
#define OSTLER_CLIENT_LIMITS_H

enum {
    LIMIT_CREDENTIAL_BYTES = 1 << 20,  /* a token, key or certificate file; CA bundles are the long ones */
    LIMIT_KUBECONFIG_FILES = 32,       /* in $KUBECONFIG */
    LIMIT_HEADER_BYTES = 64 << 10,     /* all header lines of one answer */
    LIMIT_WARNINGS = 64,               /* different `Warning:` headers that are logged */
    LIMIT_WARNING_BYTES = 512,         /* of one of them */
    RECEIVE_BUFFER_BYTES = 2 << 10,    /* libcurl reads up to 100 of these in a row: small ones keep a flooding stream fair */
    SEND_BUFFER_BYTES = 16 << 10,      /* the least that libcurl takes: each watch over TLS holds one as long as it runs */
    EVENTS_PER_TURN = 16,              /* sockets served in one turn */
    CREDENTIAL_REREAD_MS = 60 * 1000,  /* how often files of credentials are looked at again */
    PLUGIN_TIMEOUT_MS = 30 * 1000,     /* how long a credential program may run */
    PLUGIN_PAUSE_MS = 10 * 1000,       /* between two runs of it */
    PLUGIN_MARGIN_MS = 60 * 1000,      /* how long before its credential ends it is run again */
    CONNECT_TIMEOUT_MS = 10 * 1000,    /* TCP and TLS together */
    KEEPALIVE_IDLE_S = 30,             /* silence before the kernel probes a connection … */
    KEEPALIVE_INTERVAL_S = 10,         /* … and between probes … */
    KEEPALIVE_PROBES = 3,              /* … and how many may be lost */
    TCP_UNACKED_MS = 30 * 1000,        /* how long sent bytes may stay unacknowledged */
    READ_CONNECTIONS = 8,              /* requests at a time beyond which a read waits */
    CONNECTIONS_PER_LANE = 16,         /* connections kept for reuse */
    IDLE_CLOSE_MS = 30 * 1000,         /* how long they are kept */
};

#endif
