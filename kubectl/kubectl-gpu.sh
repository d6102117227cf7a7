#!/bin/sh
# `kubectl gpu` where its program does not run, such as macOS: runs it in a container (Docker,
# Podman, nerdctl). `make release` packs this as kubectl-gpu, with the image's name in place of
# OSTLER_IMAGE_NAME.
#
# The container reaches the cluster through `kubectl proxy` on this machine's loopback. So it needs
# neither the kubeconfig nor programs that log in, and a cluster on this machine (kind, k3d) is
# reached too. While the command runs, other programs of this machine can use that port.
#
#   OSTLER_IMAGE    another image
#   OSTLER_DOCKER   the program that runs containers; default: docker
#   OSTLER_HOST     the name of this machine in a container; default: host.docker.internal
set -eu
image=${OSTLER_IMAGE:-OSTLER_IMAGE_NAME}
docker=${OSTLER_DOCKER:-docker}
host=${OSTLER_HOST:-host.docker.internal}

for program in kubectl "$docker"; do
    command -v "$program" >/dev/null 2>&1 || {
        echo "kubectl gpu: $program is missing. This machine runs the plugin in a container." >&2
        exit 1
    }
done

# The options about the kubeconfig are for kubectl proxy; the rest is for the program. Each word
# goes to the end of the list, which so keeps its order.
kubeconfig='' context='' left=$#
while [ "$left" -gt 0 ]; do
    word=$1
    shift
    left=$((left - 1))
    case $word in
    --kubeconfig | --context)
        [ "$left" -gt 0 ] || { echo "kubectl gpu: $word needs a value" >&2; exit 2; }
        if [ "$word" = --context ]; then context=$1; else kubeconfig=$1; fi
        shift
        left=$((left - 1))
        ;;
    --kubeconfig=*) kubeconfig=${word#*=} ;;
    --context=*) context=${word#*=} ;;
    *) set -- "$@" "$word" ;;
    esac
done

# Its port-forward would listen in the container.
case ${1:-} in
page)
    echo "kubectl gpu: in a container the command page cannot open a port of this machine. Run" >&2
    echo "  kubectl --namespace ostler-system port-forward deployment/ostler 8081" >&2
    echo "and open http://localhost:8081/ in a browser." >&2
    exit 1
    ;;
esac

# Below the home folder, which containers see in all of Docker Desktop, Colima and Podman.
mkdir -p "$HOME/.kube/cache"
folder=$(mktemp -d "$HOME/.kube/cache/gpu.XXXXXX")
proxy=''
trap '[ -z "$proxy" ] || kill "$proxy" 2>/dev/null || :; rm -rf "$folder"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

kubectl ${kubeconfig:+"--kubeconfig=$kubeconfig"} ${context:+"--context=$context"} \
    proxy --port=0 >"$folder/proxy" 2>&1 </dev/null &
proxy=$!
port='' tries=0
while [ -z "$port" ]; do
    port=$(sed -n 's/^Starting to serve on 127\.0\.0\.1:\([0-9]*\)$/\1/p' "$folder/proxy")
    tries=$((tries + 1))
    if [ -z "$port" ] && { [ "$tries" -gt 100 ] || ! kill -0 "$proxy" 2>/dev/null; }; then
        echo "kubectl gpu: kubectl proxy does not start:" >&2
        cat "$folder/proxy" >&2
        exit 1
    fi
    [ -n "$port" ] || sleep 0.1
done

# To the program the cluster is on its own loopback, behind an HTTP proxy: it takes http:// from
# nowhere else.
cat >"$folder/kubeconfig" <<TEXT
apiVersion: v1
kind: Config
current-context: proxy
contexts: [{name: proxy, context: {cluster: proxy, user: proxy}}]
users: [{name: proxy, user: {}}]
clusters:
  - name: proxy
    cluster: {server: "http://127.0.0.1:$port", proxy-url: "http://$host:$port"}
TEXT
chmod 755 "$folder"
chmod 644 "$folder/kubeconfig"
terminal=''
[ ! -t 0 ] || [ ! -t 1 ] || terminal=--tty
status=0
"$docker" run --rm --interactive ${terminal:+"$terminal"} \
    --user "$(id -u):$(id -g)" --read-only --cap-drop ALL \
    --volume "$folder/kubeconfig:/kubeconfig:ro" --env KUBECONFIG=/kubeconfig \
    --volume "$PWD:/work" --workdir /work \
    --env "NO_COLOR=${NO_COLOR:-}" --env "TERM=${TERM:-}" \
    --entrypoint /usr/bin/kubectl-gpu "$image" "$@" || status=$?
exit "$status"
