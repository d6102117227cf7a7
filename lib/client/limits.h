/* Limits and timeouts of the network client. All input is hostile until it is within them. The
 * consumer limits a body's length. Eight pods of one tenant fill a list page with 70 MB, and
 * only the splitter knows that no single pod is too long. */
#ifndef OSTLER_CLIENT_LIMITS_H
#define OSTLER_CLIENT_LIMITS_H

enum {
    /* a token, key or certificate file; CA bundles are the longest */
    LIMIT_CREDENTIAL_BYTES = 1 << 20,
    LIMIT_KUBECONFIG_FILES = 32,   /* in $KUBECONFIG */
    LIMIT_HEADER_BYTES = 64 << 10, /* all header lines of a response */
    LIMIT_WARNINGS = 64,           /* different `Warning:` headers to log */
    LIMIT_WARNING_BYTES = 512,     /* of each of them */
    /* libcurl reads up to 100 in a row: small buffers keep a flooding stream fair */
    RECEIVE_BUFFER_BYTES = 2 << 10,
    /* Each watch over TLS holds one. The libcurl of a distribution takes 16 KiB at least. */
    SEND_BUFFER_BYTES = 4 << 10,
    EVENTS_PER_TURN = 16,             /* sockets per turn */
    CREDENTIAL_REREAD_MS = 60 * 1000, /* how often credential files are read again */
    PLUGIN_TIMEOUT_MS = 30 * 1000,    /* the most that a credential plugin may run */
    PLUGIN_PAUSE_MS = 10 * 1000,      /* between two runs of the plugin */
    PLUGIN_MARGIN_MS = 60 * 1000,     /* how long before expiry the plugin runs again */
    CONNECT_TIMEOUT_MS = 10 * 1000,   /* TCP and TLS together */
    KEEPALIVE_IDLE_S = 30,            /* silence before the kernel probes a connection */
    KEEPALIVE_INTERVAL_S = 10,        /* between probes */
    KEEPALIVE_PROBES = 3,             /* probes that may be lost */
    TCP_UNACKED_MS = 30 * 1000,       /* how long sent bytes may stay unacknowledged */
    READ_CONNECTIONS = 8,             /* concurrent requests above which a read waits */
    CONNECTIONS_PER_LANE = 16,        /* idle connections kept for reuse */
    IDLE_CLOSE_MS = 30 * 1000,        /* how long they stay open */
};

#endif
