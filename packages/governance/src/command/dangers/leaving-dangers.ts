import { deploys } from "../../emergency/find-deploy.ts";
import type { DangerRule } from "../words/invocation.ts";
import { ask, asks, refuses } from "./danger-rows.ts";

const reading = /^(?:list|ls|view|status|describe(?:-.*)?|get(?:-.*)?|show|help|--version|--help|info|logs?)$/;

export const leavingDangers: readonly DangerRule[] = [
  {
    rule: "floor/deploy",
    find({ name, words }) {
      const texts = words.map(({ literal }) => literal);
      const isDry = texts.some((text = "") => /^--dry-run(?:=(?:client|server|true))?$/.test(text));
      const what = deploys(name, texts);
      if (what === undefined || isDry) return undefined;
      return ask(`${what} publishes, deploys or changes what others use.`);
    },
  },
  asks(
    "floor/deploy",
    "npm pnpm yarn cargo gem gh glab docker podman vsce ovsx terraform tofu wrangler",
    "$ signs in, or changes what others use.",
    {
      any: /^(?:owner|access|token|log-?in|logout|adduser|signin|profile|team|org|hook|gist|repo|secret|variable|auth|api|ssh-key|gpg-key|codespace|extension)$/,
      none: reading,
    },
  ),
  asks(
    "floor/deploy",
    "aws gcloud gsutil az doctl heroku fly flyctl vercel netlify firebase eb railway",
    "$ reaches a cloud.",
    {
      none: reading,
    },
  ),
  asks(
    "floor/send-data",
    "nc ncat netcat socat telnet scp sftp ftp tftp lftp rclone croc magic-wormhole wormhole mail mailx sendmail mutt ping6 nslookup dig host drill xdg-open open start ngrok cloudflared",
    "$ can send data out of the machine.",
    { none: /^-(?:-?version|V|h|-help)$/ },
  ),
  asks("floor/send-data", "rsync", "$ can send data out of the machine.", { any: /^[^/.][^/]*:|^rsync:/ }),
  asks("floor/send-data", "curl wget", "This sends data out of the machine.", {
    any: /^(?:-T|--data|--form|--upload-file|--post-|--body-|--json)|^-[a-zA-Z]*[dFT]$|^-[dF]/,
  }),
  asks("floor/send-data", "http https xh httpie", "This sends data out of the machine.", { any: /[=@]/ }),
  {
    rule: "floor/send-data",
    programs: ["curl", "wget", "http", "https", "xh", "aria2c", "httpie"],
    find({ words }) {
      const reason = "What this request sends is decided by other commands or variables.";
      return words.some(({ kind }) => kind === "dynamic") ? ask(reason) : undefined;
    },
  },
  asks(
    "floor/remote-shell",
    "ssh mosh autossh sshpass telnet rsh slogin pssh pdsh wsl wsl.exe winrs psexec",
    "$ runs commands on another machine.",
  ),
  refuses("floor/container", "docker podman nerdctl lxc kubectl", "A container with the rights of the machine.", {
    any: /^--privileged|^--pid=host|^--cap-add|docker\.sock/,
  }),
  asks("floor/container", "docker podman nerdctl lxc kubectl", "This runs or removes containers.", {
    any: /^(?:run|exec|rm|rmi|prune|kill|down)$|^\/(?:etc|root|home|var|usr|boot|dev|proc|sys)?:|^(?:-v|--volume)=?\/:/,
  }),
];
