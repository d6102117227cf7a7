#include "client/http_options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "client/limits.h"

/* An option that libcurl does not accept (no memory, not built in) could mean a missing check. */
static void must(CURLcode code, const char *option)
{
    if (code == CURLE_OK)
        return;
    fprintf(stderr, "ostler: libcurl rejects %s: %s\n", option, curl_easy_strerror(code));
    abort();
}

#define SET(easy, option, value) must(curl_easy_setopt(easy, option, value), #option)

static void append(struct curl_slist **list, const char *text)
{
    struct curl_slist *longer = curl_slist_append(*list, text);
    must(longer ? CURLE_OK : CURLE_OUT_OF_MEMORY, text);
    *list = longer;
}

static void set_blob(CURL *easy, CURLoption option, const struct material *m)
{
    /* copied: the file may be read again during the transfer */
    struct curl_blob blob = { .data = m->bytes, .len = m->len, .flags = CURL_BLOB_COPY };
    if (m->bytes)
        must(curl_easy_setopt(easy, option, &blob), "a certificate or key");
}

static void set_tls(CURL *easy, const struct config *c)
{
    SET(easy, CURLOPT_SSLVERSION, (long) CURL_SSLVERSION_TLSv1_2);
    SET(easy, CURLOPT_SSL_VERIFYPEER, c->insecure ? 0L : 1L);
    SET(easy, CURLOPT_SSL_VERIFYHOST, c->insecure ? 0L : 2L);
    /* Otherwise the distribution's default directory would be trusted beside the configured
     * authority. */
    SET(easy, CURLOPT_CAPATH, NULL);
    /* libcurl never caches blobs and never reuses a connection that was made with others. */
    set_blob(easy, CURLOPT_CAINFO_BLOB, &c->materials[MATERIAL_CA]);
    set_blob(easy, CURLOPT_SSLCERT_BLOB, &c->materials[MATERIAL_CERTIFICATE]);
    set_blob(easy, CURLOPT_SSLKEY_BLOB, &c->materials[MATERIAL_KEY]);
}

/* With tls-server-name the URL has that name, and the connection goes to the real host. */
static void set_url(CURL *easy, const struct config *c, const char *path, struct http_lists *lists)
{
    const struct endpoint *server = &c->server;
    CLEANUP_FREE char *base = endpoint_url_with_host(server, c->tls_server_name ? c->tls_server_name
                                                                                : server->host);
    CLEANUP_FREE char *url = xasprintf("%s%s%s", base, server->base_path, path);
    SET(easy, CURLOPT_URL, url);
    SET(easy, CURLOPT_PROTOCOLS_STR, server->tls ? "https" : "http");
    if (!c->tls_server_name)
        return;
    const char *authority = strstr(server->url, "://") + 3;
    CLEANUP_FREE char *connect_to = xasprintf("::%s", authority);
    CLEANUP_FREE char *host_line = xasprintf("Host: %s", authority);
    append(&lists->connect_to, connect_to);
    append(&lists->headers, host_line);
    SET(easy, CURLOPT_CONNECT_TO, lists->connect_to);
}

static void set_connection(CURL *easy, const struct config *c)
{
    /* One connection per running request: a slow or dead one delays no other request and is
     * closed with its request. HTTP/2 would share a connection, and libcurl 7.88 stalls on it in
     * large responses with a small receive buffer. */
    SET(easy, CURLOPT_HTTP_VERSION, (long) CURL_HTTP_VERSION_1_1);
    SET(easy, CURLOPT_MAXAGE_CONN, (long) IDLE_CLOSE_MS / 1000);
    SET(easy, CURLOPT_CONNECTTIMEOUT_MS, (long) CONNECT_TIMEOUT_MS);
    SET(easy, CURLOPT_BUFFERSIZE, (long) RECEIVE_BUFFER_BYTES);
    SET(easy, CURLOPT_UPLOAD_BUFFERSIZE, (long) SEND_BUFFER_BYTES);
    SET(easy, CURLOPT_NOSIGNAL, 1L);
    SET(easy, CURLOPT_QUICK_EXIT, 1L); /* slow DNS must not delay the end */
    SET(easy, CURLOPT_FOLLOWLOCATION, 0L);
    /* "", not NULL: libcurl must not read the environment */
    SET(easy, CURLOPT_PROXY, c->proxy_url ? c->proxy_url : "");
    SET(easy, CURLOPT_NOPROXY, "");
    SET(easy, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
}

static void set_headers(CURL *easy, const struct config *c, const struct request *r,
                        struct http_lists *lists)
{
    const char *token = config_token(c);
    CLEANUP_FREE char *authorization = token ? xasprintf("Authorization: Bearer %s", token) : NULL;
    CLEANUP_FREE char *type = r->content_type ? xasprintf("Content-Type: %s", r->content_type)
                                              : NULL;
    append(&lists->headers, "Accept: application/json");
    append(&lists->headers, "Expect:"); /* no wait for 100 Continue */
    if (authorization)
        append(&lists->headers, authorization);
    if (type)
        append(&lists->headers, type);
    SET(easy, CURLOPT_HTTPHEADER, lists->headers);
    SET(easy, CURLOPT_USERAGENT, c->user_agent ? c->user_agent : "ostler");
    /* Large lists are compressed; a compressor would delay a watch. */
    if (c->compression && r->class == REQUEST_READ)
        SET(easy, CURLOPT_ACCEPT_ENCODING, "gzip");
}

static void set_request(CURL *easy, const struct request *r)
{
    if (r->body) {
        SET(easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t) strlen(r->body));
        SET(easy, CURLOPT_POSTFIELDS, r->body);
    }
    SET(easy, CURLOPT_CUSTOMREQUEST, r->method);
    SET(easy, CURLOPT_TIMEOUT_MS, (long) r->timeout_ms);
}

CURL *http_options_new(const struct config *c, const struct request *r, struct http_lists *lists)
{
    CURL *easy = curl_easy_init();
    must(easy ? CURLE_OK : CURLE_OUT_OF_MEMORY, "another request");
    set_url(easy, c, r->path, lists);
    set_connection(easy, c);
    set_tls(easy, c);
    set_headers(easy, c, r, lists);
    set_request(easy, r);
    return easy;
}

void http_lists_clear(struct http_lists *lists)
{
    curl_slist_free_all(lists->headers);
    curl_slist_free_all(lists->connect_to);
    *lists = (struct http_lists){ 0 };
}
