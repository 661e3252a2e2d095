/* SPDX-License-Identifier: BSD-3-Clause */
/* Names of descriptors; see wait_object.h. Must not wait or allocate. */
#include "hpcrun-lite/runtime/waits/wait_object.h"

#include "common/safe/sys.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

/* Linux gives clients random ports from here on. */
#define PORT_RANDOM 32768u

union address {
	struct sockaddr any;
	struct sockaddr_in in;
	struct sockaddr_in6 in6;
	struct sockaddr_un un;
	struct sockaddr_storage room;
};

/* The path of a Unix socket; "@" replaces the NUL of an abstract name. */
static bool put_unix(struct text *t, const struct sockaddr_un *a, socklen_t n)
{
	const size_t head = offsetof(struct sockaddr_un, sun_path);
	if (n <= head + 1)
		return false;
	char path[sizeof a->sun_path + 1] = {0};
	memcpy(path, a->sun_path, n - head < sizeof a->sun_path ? n - head : sizeof a->sun_path);
	if (path[0] == '\0')
		path[0] = '@';
	text_put(t, path);
	return true;
}

static void put_bytes(struct text *t, const uint8_t *byte)
{
	for (unsigned i = 0; i < 4; i++) {
		if (i)
			text_put_char(t, '.');
		text_put_u64(t, byte[i]);
	}
}

/* Writes every group of an IPv6 address; never uses a short form. */
static void put_groups(struct text *t, const uint8_t *byte)
{
	static const char digit[] = "0123456789abcdef";
	text_put_char(t, '[');
	for (unsigned i = 0; i < 16; i += 2) {
		const unsigned group = (unsigned)byte[i] << 8 | byte[i + 1];
		if (i)
			text_put_char(t, ':');
		for (unsigned shift = 16, begun = 0; shift;) {
			shift -= 4;
			begun |= group >> shift & 15u || !shift;
			if (begun)
				text_put_char(t, digit[group >> shift & 15u]);
		}
	}
	text_put_char(t, ']');
}

static unsigned port_of(const union address *a)
{
	return a->any.sa_family == AF_INET    ? ntohs(a->in.sin_port)
	       : a->any.sa_family == AF_INET6 ? ntohs(a->in6.sin6_port)
					      : 0;
}

static void put_internet(struct text *t, const union address *a)
{
	if (a->any.sa_family == AF_INET)
		put_bytes(t, (const uint8_t *)&a->in.sin_addr);
	else if (IN6_IS_ADDR_V4MAPPED(&a->in6.sin6_addr))
		put_bytes(t, (const uint8_t *)&a->in6.sin6_addr + 12);
	else
		put_groups(t, (const uint8_t *)&a->in6.sin6_addr);
}

static bool get_address(long call, int fd, union address *a, socklen_t *n)
{
	*n = sizeof *a;
	memset(a, 0, sizeof *a);
	return sys_call3(call, fd, (long)a, (long)n) == 0;
}

/*
 * A client's socket is named by the server's address. A server's sockets are named by its own port,
 * because the ports of clients are random.
 */
static bool put_socket(struct text *t, int fd)
{
	union address own, peer;
	socklen_t n_own, n_peer;
	if (!get_address(SYS_getsockname, fd, &own, &n_own))
		return false;
	const bool has_peer = get_address(SYS_getpeername, fd, &peer, &n_peer);
	text_put(t, "socket ");
	if (own.any.sa_family == AF_UNIX)
		return (has_peer && put_unix(t, &peer.un, n_peer)) || put_unix(t, &own.un, n_own);
	if (own.any.sa_family != AF_INET && own.any.sa_family != AF_INET6)
		return false;
	if (has_peer && port_of(&peer) < PORT_RANDOM) {
		put_internet(t, &peer);
		text_put_char(t, ':');
		text_put_u64(t, port_of(&peer));
		return true;
	}
	if (port_of(&own) >= PORT_RANDOM || port_of(&own) == 0)
		return false;
	text_put(t, "on port ");
	text_put_u64(t, port_of(&own));
	return true;
}

bool wait_object_name(int fd, struct text *name)
{
	char path[32], target[256];
	struct text t = text_in(path, sizeof path);
	text_put(&t, "/proc/self/fd/");
	text_put_u64(&t, (unsigned)fd);
	const long n =
		sys_call4(SYS_readlinkat, AT_FDCWD, (long)path, (long)target, sizeof target - 1);
	if (n <= 0)
		return false;
	target[n] = '\0';
	if (!strncmp(target, "socket:", 7))
		return put_socket(name, fd);
	if (!strncmp(target, "anon_inode:", 11)) {
		text_put(name, target + 11);
		return true;
	}
	if (target[0] != '/' || !strncmp(target, "/memfd:", 7))
		return false; /* pipes */
	text_put(name, "file ");
	text_put(name, target);
	return true;
}
