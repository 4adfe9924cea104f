# Dragoman's service: the model, the tokenizer and the HTTP door. Training is not in the image.
#
#   docker build -t dragoman .
#   docker run --rm -p 127.0.0.1:8000:8000 dragoman
#
# torch comes from a wheel in wheels/, else from the index that the build argument TORCH_INDEX addresses,
# else from where pip looks by itself (on x86-64: a CUDA build of several GB). With torch's wheel and those
# of requirements/serve.lock in wheels/, `--build-arg PIP_NO_INDEX=1` builds without a network.

# The wheels, if there are any: the lock is named so that the copy has something to copy when there are none.
FROM scratch AS wheels
COPY requirements/torch.lock wheels* /

FROM python:3.11-slim AS build
ARG TORCH_INDEX=""
ARG PIP_NO_INDEX=""
ENV PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_CACHE_DIR=1 PIP_ROOT_USER_ACTION=ignore
SHELL ["/bin/bash", "-euo", "pipefail", "-c"]
# The environment has no pip of its own: nothing that runs can install anything into it.
RUN python -m venv --without-pip /opt/venv
# What serving needs is there before torch, so that TORCH_INDEX has to offer torch alone.
RUN --mount=type=bind,from=wheels,target=/wheels \
    --mount=type=bind,source=requirements,target=/requirements \
    pip --python /opt/venv/bin/python install --find-links /wheels --require-hashes -r /requirements/serve.lock \
 && pip --python /opt/venv/bin/python install --find-links /wheels ${TORCH_INDEX:+--index-url "$TORCH_INDEX"} -r /requirements/torch.lock
# What torch brings for those who build extensions and for its own tests.
RUN rm -rf /opt/venv/lib/python3.11/site-packages/torch/{include,share,test}
WORKDIR /app
COPY tokenizer/ tokenizer/
COPY model/ model/
COPY service/ service/
# The native engine, for every class of processors: where the image runs, there is no compiler. Without a Debian
# archive in reach it is left out, and PyTorch does its work.
ENV DRAGOMAN_CACHE=/app/native
RUN mkdir -p native \
 && { apt-get update -qq && apt-get install -qq -y --no-install-recommends g++ >/dev/null \
      || echo "no compiler can be had: the image goes without the native engine" >&2; } \
 && if [ "$(uname -m)" = x86_64 ] && command -v g++ >/dev/null; \
    then /opt/venv/bin/python -B -m model.native.build --all; fi
# Compiled here, since the file system is read-only where it runs; imported once, since a part that is
# missing should stop the build rather than the start.
RUN python -m compileall -q tokenizer model service && /opt/venv/bin/python -B -c 'import service.app'

FROM python:3.11-slim
LABEL org.opencontainers.image.title="Dragoman" \
      org.opencontainers.image.description="A translation service somebody can own from corpus to container" \
      org.opencontainers.image.licenses="Apache-2.0"
# Any --user may run it: nothing has to be written, nobody's home is needed, and every file can be read by all.
# USER gives a name to users who have none in /etc/passwd, for libraries that ask for it; torch's compiler
# makes a folder as it is imported, unless it is given one that exists. OMP_WAIT_POLICY: threads that wait
# sleep; where they have fewer cores than they count, spinning costs seconds a sentence.
ENV PATH=/opt/venv/bin:$PATH \
    PYTHONDONTWRITEBYTECODE=1 PYTHONUNBUFFERED=1 \
    HOME=/tmp USER=dragoman TORCHINDUCTOR_CACHE_DIR=/tmp OMP_WAIT_POLICY=PASSIVE \
    HOST=0.0.0.0 PORT=8000 MODEL=pretrained/en-de DRAGOMAN_CACHE=/app/native
# /state waits for a volume, which takes over whose it is; nothing is kept unless STATE_FOLDER names it.
RUN useradd --system --uid 10001 --no-create-home --home-dir /tmp --shell /usr/sbin/nologin dragoman \
 && install --directory --owner 10001 --group 10001 --mode 0700 /state
COPY --from=build /opt/venv /opt/venv
COPY --from=build /app /app
WORKDIR /app
COPY pretrained/ pretrained/
COPY docs/how-it-works.md docs/how-it-works.zh.md docs/
COPY docs/images/ docs/images/
USER 10001:10001
EXPOSE 8000
# Without proxies: an http_proxy in the environment is not meant for this address.
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s --start-interval=1s --retries=3 \
    CMD ["python", "-c", "import os, urllib.request as r; r.build_opener(r.ProxyHandler({})).open(f'http://127.0.0.1:{os.environ[\"PORT\"]}/health/ready', timeout=4)"]
CMD ["python", "-m", "service"]
