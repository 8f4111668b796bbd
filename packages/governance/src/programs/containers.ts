import type { DangerRow, DeployWords, Program, RegistryUse } from "./program.ts";
import { signsIn } from "./shared-rows.ts";

const dangers: readonly DangerRow[] = [
  {
    rule: "floor/container",
    verdict: "deny",
    reason: "This container has the rights of the machine.",
    any: /^--privileged|^--pid=host|^--cap-add|docker\.sock/,
  },
  {
    rule: "floor/container",
    verdict: "ask",
    reason: "This runs or removes containers.",
    any: /^(?:run|exec|rm|rmi|prune|kill|down)$|^\/(?:etc|root|home|var|usr|boot|dev|proc|sys)?:|^(?:-v|--volume)=?\/:/,
  },
];

const images: DeployWords = {
  verb: /^(?:push|copy|cp|deploy|publish|apply|resolve|sync)$/,
  anyOperand: /^(?:push|deploy|bake)$/,
  option: /^--push(?:=true)?$|^(?:-o|--output=?).*\bpush=true|^type=registry/,
};

const verbs: Program["verbs"] = { pull: { reaches: true, login: true }, "push login": { reaches: true } };

/** Layers of a push are many requests, each of them a change: they are not read yet. */
const registry: RegistryUse = {
  logins: [
    {
      from: "$REGISTRY_AUTH_FILE $XDG_RUNTIME_DIR/containers/auth.json ~/.config/containers/auth.json $DOCKER_CONFIG/config.json ~/.docker/config.json",
      form: "tree",
      at: "auths *",
      fields: { pair: "auth" },
    },
  ],
  reads: /^v2\/(?:[a-z0-9][\w./-]*\/(?:manifests|blobs|tags)\/[\w.:-]+)?$/,
};

const clusters: DeployWords = {
  anyOperand:
    /^(?:apply|create|delete|replace|patch|edit|scale|rollout|set|label|annotate|expose|autoscale|drain|cordon|uncordon|taint|run|exec|cp|debug|rsh|new-app|start-build|deploy)$/,
};

/** Images, containers and clusters of them. */
export const containers: readonly Program[] = [
  {
    names: "docker",
    tellsVersion: true,
    starts: true,
    hosts: "registry-1.docker.io auth.docker.io",
    verbs,
    dangers: [signsIn, ...dangers],
    deploys: { ...images, anyOperand: /^(?:push|deploy|bake|stack|service|swarm)$/ },
  },
  { names: "podman", starts: true, registry, verbs, dangers: [signsIn, ...dangers], deploys: images },
  { names: "nerdctl", starts: true, dangers, deploys: images },
  { names: "lxc", dangers },
  {
    names: "skopeo",
    registry,
    deploys: images,
    verbs: { "inspect list-tags copy sync": { reaches: true, login: true }, "login logout": { reaches: true } },
  },
  { names: "buildah", registry, deploys: images, verbs: { "pull from bud build": { reaches: true, login: true } } },
  { names: "crane oras regctl img kaniko ko jib", deploys: images },
  { names: "docker-compose", starts: true, deploys: { verb: /^push$/ } },
  { names: "podman-compose", deploys: { verb: /^push$/ } },
  { names: "kubectl", tellsVersion: true, otherwise: {}, starts: true, dangers, deploys: clusters },
  { names: "oc k kubecolor k3s microk8s minikube k0s", deploys: clusters },
  {
    names: "helm",
    otherwise: {},
    deploys: { verb: /^(?:install|upgrade|uninstall|delete|rollback|push|un)$/ },
  },
  { names: "helmfile", deploys: { verb: /^(?:apply|sync|destroy|delete)$/ } },
  { names: "kustomize kapp kpt ytt tanka tk", deploys: { anyOperand: /^(?:apply|deploy|live|delete)$/ } },
  {
    names: "argocd flux argo tkn rancher istioctl linkerd",
    deploys: {
      anyOperand:
        /^(?:sync|rollback|set|create|delete|patch|upsert|reconcile|bootstrap|install|uninstall|upgrade|submit|start|apply)$/,
    },
  },
  {
    names: "skaffold tilt garden devspace werf okteto draft",
    deploys: { verb: /^(?:run|deploy|apply|up|converge|delete|dev|purge)$/ },
  },
  { names: "nomad", deploys: { anyOperand: /^(?:run|stop|deployment|revert|promote|dispatch)$/ } },
];
