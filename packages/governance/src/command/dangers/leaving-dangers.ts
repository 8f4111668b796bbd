import type { DangerRule } from "../invocation.ts";
import { operandsOf } from "../option-spec.ts";
import type { ResolvedWord } from "../resolve-word.ts";

type Words = readonly ResolvedWord[];

const has = (words: Words, pattern: RegExp): boolean => words.some((word) => pattern.test(word.literal ?? word.raw));

/** What publishes, deploys or changes what others use. By program: the verbs that do. */
const deployVerbs: Readonly<Record<string, RegExp>> = {
  npm: /^(?:publish|unpublish|deprecate|dist-tag|owner|access|token|login|adduser|profile|team|org|hook|star)$/,
  pnpm: /^(?:publish|deploy)$/,
  yarn: /^(?:publish|npm)$/,
  bun: /^publish$/,
  cargo: /^(?:publish|yank|owner|login)$/,
  gem: /^(?:push|yank|owner|signin)$/,
  twine: /^(?:upload|register)$/,
  poetry: /^publish$/,
  uv: /^publish$/,
  hatch: /^publish$/,
  flit: /^publish$/,
  vsce: /^(?:publish|unpublish|login)$/,
  ovsx: /^(?:publish|login)$/,
  mvn: /(?:^|:)(?:deploy|release)/,
  gradle: /publish|deploy|release/i,
  docker: /^(?:push|login|logout)$/,
  podman: /^(?:push|login|logout)$/,
  kubectl:
    /^(?:apply|create|delete|replace|patch|edit|scale|rollout|drain|cordon|uncordon|taint|set|label|annotate|expose|run|exec|cp|port-forward|proxy|attach|debug|autoscale|auth|certificate)$/,
  oc: /^(?:apply|create|delete|replace|patch|edit|scale|rollout|exec|rsh|cp|new-app|start-build)$/,
  helm: /^(?:install|upgrade|uninstall|delete|rollback|push)$/,
  terraform: /^(?:apply|destroy|import|state|taint|untaint|force-unlock|workspace|login)$/,
  tofu: /^(?:apply|destroy|import|state|taint|untaint|force-unlock|workspace)$/,
  pulumi: /^(?:up|update|destroy|import|refresh|cancel|stack|state)$/,
  cdk: /^(?:deploy|destroy|bootstrap|import)$/,
  serverless: /^(?:deploy|remove|rollback)$/,
  sls: /^(?:deploy|remove|rollback)$/,
  ansible: /./,
  "ansible-playbook": /./,
  aws: /./,
  gcloud: /./,
  gsutil: /./,
  az: /./,
  doctl: /./,
  heroku: /./,
  fly: /./,
  flyctl: /./,
  vercel: /./,
  netlify: /./,
  wrangler: /^(?:deploy|publish|delete|secret|rollback|kv|r2|d1|login)$/,
  firebase: /./,
  eb: /./,
  railway: /./,
  gh: /^(?:gist|release|repo|secret|variable|auth|api|workflow|ssh-key|gpg-key|codespace|extension)$/,
  glab: /^(?:release|repo|variable|auth|api|ssh-key)$/,
};

const reading = /^(?:list|ls|view|status|describe(?:-.*)?|get(?:-.*)?|show|help|version|--version|--help|info|logs?)$/;

export const leavingDangers: readonly DangerRule[] = [
  {
    rule: "floor/deploy",
    programs: Object.keys(deployVerbs),
    find({ name, words }) {
      const verbs = deployVerbs[name];
      const operands = operandsOf(words);
      if (
        verbs === undefined ||
        !operands.slice(0, 2).some((word) => word.literal !== undefined && verbs.test(word.literal))
      )
        return undefined;
      if (has(words, /^--dry-run(?:=(?:client|server|true))?$/)) return undefined;
      const reads = operands.slice(1, 4).some((word) => reading.test(word.literal ?? ""));
      return {
        verdict: "ask",
        reason: `${name} ${operands[0]?.raw ?? ""} publishes, deploys or changes what others use.`,
        ...(reads ? {} : { high: true }),
      };
    },
  },
  {
    rule: "floor/send-data",
    programs:
      "nc ncat netcat socat telnet scp sftp rsync ftp tftp lftp rclone croc magic-wormhole wormhole mail mailx sendmail mutt ping6 nslookup dig host drill xdg-open open start ngrok cloudflared".split(
        " ",
      ),
    find({ name, words }) {
      if (name === "rsync" && !has(words, /^[^/.][^/]*:|^rsync:/)) return undefined;
      if (has(words, /^-(?:-?version|V|h|-help)$/)) return undefined;
      return { verdict: "ask", reason: `${name} can send data out of the machine.`, high: true };
    },
  },
  {
    rule: "floor/send-data",
    programs: ["curl", "wget", "http", "https", "xh", "aria2c", "httpie"],
    find({ words, name }) {
      const data =
        name === "curl" || name === "wget"
          ? /^(?:-d|-F|-T|--data.*|--form.*|--upload-file|--post-.*|--body-.*|--json)/
          : /[=@]/;
      const upload = has(words, data) || has(words, /^-[a-zA-Z]*[dFT]$/);
      if (words.some((word) => word.kind === "dynamic"))
        return {
          verdict: "ask",
          reason: "What this request sends is decided by other commands or variables.",
          high: true,
        };
      if (upload && has(words, /@|^-T|^--upload-file|^--post-file|^--body-file/))
        return { verdict: "ask", reason: "This sends a file out of the machine.", high: true };
      return upload ? { verdict: "ask", reason: "This sends data out of the machine.", high: true } : undefined;
    },
  },
  {
    rule: "floor/remote-shell",
    programs: [
      "ssh",
      "mosh",
      "autossh",
      "sshpass",
      "telnet",
      "rsh",
      "slogin",
      "pssh",
      "pdsh",
      "wsl",
      "wsl.exe",
      "winrs",
      "psexec",
    ],
    find: ({ name }) => ({ verdict: "ask", reason: `${name} runs commands on another machine.`, high: true }),
  },
  {
    rule: "floor/container",
    programs: ["docker", "podman", "nerdctl", "lxc", "kubectl"],
    find({ words }) {
      if (has(words, /^--privileged|^--pid=host|^--cap-add|docker\.sock/))
        return { verdict: "deny", reason: "A container with the rights of the machine.", high: true };
      if (has(words, /^\/(?:etc|root|home|var|usr|boot|dev|proc|sys)?:|^(?:-v|--volume)=?\/:/))
        return { verdict: "ask", reason: "This mounts the machine's own directories into a container.", high: true };
      return operandsOf(words)
        .slice(0, 2)
        .some((word) => /^(?:run|exec|rm|rmi|prune|kill|down)$/.test(word.literal ?? ""))
        ? { verdict: "ask", reason: "This runs or removes containers.", high: true }
        : undefined;
    },
  },
];
