#!/usr/bin/env bash
# Build the image with compose, run it as strictly as it can be run, and have it translate.
#
# Needs a Docker engine. One that answers is used; else the script that DOCKER_ENGINE_SCRIPT names, or
# ../shared/docker/engine.sh where that exists, is asked for one ("start") and stops it again ("stop").
# Where no engine is to be had nothing is checked: this says so, and ends with 0.
#
# torch: what wheels/ holds, else what TORCH_INDEX addresses, else the wheel that this machine's pip finds,
# which is put into wheels/ for this build and the next.
set -euo pipefail
cd "$(dirname "$0")/.."

export COMPOSE_PROJECT_NAME=dragoman-check
export DRAGOMAN_IMAGE=dragoman:check DRAGOMAN_PORT=0
STRICT=dragoman-check-strict
ENGINE_SCRIPT=
started_engine=

main() {
	find_engine
	trap finish EXIT
	find_torch
	build
	check_composed
	check_strict
	say "all well"
}

say() { printf 'docker-check: %s\n' "$*"; }
die() { printf 'docker-check: error: %s\n' "$*" >&2; exit 1; }

skip() {
	printf '\n%s\n' "=================================================================="
	say "SKIPPED, the image was NOT checked: $*"
	printf '%s\n\n' "=================================================================="
	exit 0
}

find_engine() {
	if engine_answers; then return; fi
	ENGINE_SCRIPT=${DOCKER_ENGINE_SCRIPT:-../shared/docker/engine.sh}
	if [ ! -f "$ENGINE_SCRIPT" ]; then
		[ -z "${DOCKER_ENGINE_SCRIPT:-}" ] || die "DOCKER_ENGINE_SCRIPT names $ENGINE_SCRIPT, which is not a file"
		skip "no Docker engine with compose answers, and DOCKER_ENGINE_SCRIPT names no script that starts one"
	fi
	say "no engine answers; asking $ENGINE_SCRIPT for one"
	if ! bash "$ENGINE_SCRIPT" start </dev/null; then
		bash "$ENGINE_SCRIPT" stop </dev/null || true
		skip "$ENGINE_SCRIPT could not start an engine"
	fi
	started_engine=yes
	export DOCKER_HOST=${DOCKER_HOST:-unix:///var/run/docker.sock}
	engine_answers || die "$ENGINE_SCRIPT started an engine, but it does not answer at $DOCKER_HOST"
}

engine_answers() {
	docker compose version >/dev/null 2>&1 && docker version --format '{{.Server.Version}}' >/dev/null 2>&1
}

find_torch() {
	if compgen -G 'wheels/torch-*.whl' >/dev/null; then
		say "torch: $(cd wheels && echo torch-*.whl)"
	elif [ -n "${TORCH_INDEX:-}" ]; then
		say "torch: from TORCH_INDEX"
	elif [ "$(uname -s)" = Linux ]; then
		local python=.venv/bin/python
		[ -x "$python" ] || python=python3
		say "torch: the wheel that this machine's pip finds"
		"$python" -m pip download --quiet --no-deps --only-binary=:all: --python-version 3.11 \
			--dest wheels --requirement requirements/torch.lock
	else
		say "torch: from where pip looks inside the build"
	fi
}

build() {
	docker compose config --quiet
	local started=$SECONDS
	docker compose build --quiet
	say "built in $((SECONDS - started)) s, $(docker image inspect --format '{{.Size}}' "$DRAGOMAN_IMAGE" |
		awk '{ printf "%.0f MB", $1 / 1e6 }')"

	local user
	user=$(docker image inspect --format '{{.Config.User}}' "$DRAGOMAN_IMAGE")
	case $user in '' | 0 | 0:* | root*) die "the image runs as root (its user is '$user')" ;; esac
	docker run --rm "$DRAGOMAN_IMAGE" python -c '
import importlib.util, sys
sys.exit([name for name in ("training", "pip", "pytest", "sacrebleu") if importlib.util.find_spec(name)] or 0)
' || die "the image holds what serving does not need (see the list above)"
}

# As docker-compose.yml has it, with the model taken from the mounted folder.
check_composed() {
	local started=$SECONDS address
	DRAGOMAN_MODEL=/models/en-de docker compose up --detach --wait --wait-timeout 120 ||
		{ docker compose logs --tail 50 >&2; die "the composed service did not become healthy"; }
	address=$(docker compose port dragoman 8000)
	say "composed: healthy after $((SECONDS - started)) s, at $address"
	python3 deploy/smoke.py "http://$address" || die "the composed service gave a wrong answer"
	say "memory: $(docker stats --no-stream --format '{{.MemUsage}}' "$(docker compose ps --quiet dragoman)")"
	if docker compose logs | grep -qiE 'kaffee|coffee'; then die "the log holds a client's text"; fi
	check_operated
	docker compose down --timeout 30 2>/dev/null
}

# What is kept is kept in the volume, by a user who is not root; and keys come in as a secret.
check_operated() {
	local keys key glossary
	glossary=$(python3 deploy/operated.py "http://$(docker compose port dragoman 8000)" make) || die "nothing is kept"
	docker compose up --detach --force-recreate --wait --wait-timeout 120 2>/dev/null
	python3 deploy/operated.py "http://$(docker compose port dragoman 8000)" find "$glossary" ||
		die "what was kept is gone with its container"
	keys=$(mktemp)
	chmod 644 "$keys"
	key=$(docker run --rm --network none "$DRAGOMAN_IMAGE" python -m service.keys check 2>&1 >"$keys" | sed 's/.* //')
	DRAGOMAN_KEYS_FILE=$keys docker compose up --detach --force-recreate --wait --wait-timeout 120 2>/dev/null ||
		{ docker compose logs --tail 50 >&2; die "with a file of keys the service does not start"; }
	python3 deploy/operated.py "http://$(docker compose port dragoman 8000)" key "$key" || die "keys do not work"
	rm "$keys"
}

# The bundled model: no network, no file system to write to, not even /tmp, and a user nobody knows.
check_strict() {
	local started=$SECONDS status user=$((20000 + RANDOM))
	docker run --detach --name "$STRICT" --network none --read-only --user "$user:$user" --cap-drop ALL \
		--security-opt no-new-privileges --memory 2g "$DRAGOMAN_IMAGE" >/dev/null
	for _ in $(seq 240); do
		status=$(docker inspect --format '{{.State.Status}} {{.State.Health.Status}}' "$STRICT")
		[ "$status" = "running starting" ] || break
		sleep 0.5
	done
	if [ "$status" != "running healthy" ]; then
		docker logs --tail 50 "$STRICT" >&2
		die "without network, with a read-only file system and as user $user it is: $status"
	fi
	say "strict: healthy after $((SECONDS - started)) s as user $user"
	docker exec --interactive "$STRICT" python - http://127.0.0.1:8000 <deploy/smoke.py ||
		die "the strict container gave a wrong answer"
	docker stop --time 30 "$STRICT" >/dev/null
	status=$(docker inspect --format '{{.State.ExitCode}}' "$STRICT")
	[ "$status" = 0 ] || die "stopped by SIGTERM it ended with $status instead of 0"
}

finish() {
	local status=$?
	trap - EXIT
	docker rm --force "$STRICT" >/dev/null 2>&1 || true
	docker compose down --volumes --remove-orphans --timeout 5 >/dev/null 2>&1 || true
	docker image rm "$DRAGOMAN_IMAGE" >/dev/null 2>&1 || true
	[ -z "$started_engine" ] || bash "$ENGINE_SCRIPT" stop </dev/null || true
	exit "$status"
}

main
