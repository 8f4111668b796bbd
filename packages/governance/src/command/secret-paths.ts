import { globMatcher } from "../glob-matcher.ts";
import { foldPath } from "./words/fold-name.ts";

/** A file that only the user may read: the kind of secret it contains. */
export interface SecretPath {
  readonly kind: string;
}

interface SecretName {
  /** Matches the whole folded name. */
  readonly pattern: RegExp;
  readonly kind: string;
  /** Names that globs are tried on; none where the extension says it all. */
  readonly samples: readonly string[];
  /** The part of a glob that clearly refers to this file. Without it, any letter does. */
  readonly aim?: RegExp;
}

/** Names that hold secrets wherever they lie. */
const secretNames: readonly SecretName[] = [
  {
    pattern: /^\.env(?:\.(?!(?:.*\.)?(?:example|sample|template|dist|defaults?)$).+)?$/,
    kind: "an environment file",
    samples: [".env", ".env.local", ".env.production"],
  },
  { pattern: /^\.envrc$/, kind: "an environment file", samples: [".envrc"] },
  { pattern: /\.(?:pem|key|p12|pfx|ppk|jks|keystore)$/, kind: "a private key or certificate store", samples: [] },
  { pattern: /^id_(?:rsa|dsa|ecdsa|ed25519)(?!.*\.pub$)/, kind: "a private key", samples: ["id_rsa", "id_ed25519"] },
  {
    pattern: /^(?:[._]netrc|\.git-credentials|\.pgpass|\.htpasswd)$/,
    kind: "a password file",
    samples: [".netrc", ".git-credentials", ".pgpass", ".htpasswd"],
  },
  { pattern: /\.kdbx$/, kind: "a password file", samples: ["x.kdbx"], aim: /k/i },
  {
    pattern: /\.tfstate(?:\..*)?$/,
    kind: "state with credentials",
    samples: ["terraform.tfstate"],
    aim: /te|tf|state/i,
  },
  { pattern: /^credentials\.json$/, kind: "a credentials file", samples: ["credentials.json"], aim: /cre|ntials/i },
  {
    pattern: /^(?:service[-_]?account|client[-_]secret).*\.json$/,
    kind: "a credentials file",
    samples: ["service-account.json"],
    aim: /ser|acc|ount/i,
  },
  { pattern: /^kubeconfig$/, kind: "a credentials file", samples: ["kubeconfig"], aim: /ku|conf/i },
];

/** Directories that hold nothing else. */
const secretDirectories = new Set([".ssh", ".aws", ".gnupg", ".azure", ".password-store"]);

/** Folded paths below the home directory, or below any directory with that name. */
const secretTails: readonly (readonly string[])[] = [
  [".config", "gcloud"],
  [".config", "gh", "hosts.yml"],
  [".config", "gennai"],
  [".local", "state", "gennai"],
  [".kube", "config"],
  [".docker", "config.json"],
  [".cargo", "credentials.toml"],
  [".cargo", "credentials"],
  [".pypirc"],
];

const systemSecrets =
  /^\/(?:etc\/(?:g?shadow-?|sudoers(?:\/.*|\.d\/.*)?|security\/opasswd|ssl\/private(?:\/.*)?|ssh\/ssh_host_[^/]*_key)|(?:proc\/[^/]+|proc\/[^/]+\/task\/[^/]+)\/(?:environ|mem|maps|auxv|fd(?:\/.*)?)|dev\/(?:mem|kmem|port)|proc\/kcore)$/;

/** The secret that a literal path names. Compares by component, in any letter case and Unicode form. */
export function secretPath(path: string): SecretPath | undefined {
  const parts = foldPath(path);
  const absolute = path.startsWith("/") ? `/${parts.join("/")}` : "";
  if (absolute !== "" && systemSecrets.test(absolute)) return { kind: "a system secret" };
  for (const [index, part] of parts.entries()) {
    if (secretDirectories.has(part)) {
      return { kind: `${index === parts.length - 1 ? "" : "in "}a credentials directory` };
    }
    for (const tail of secretTails) {
      if (tail[0] === part && tail.every((name, offset) => parts[index + offset] === name)) {
        return { kind: "a credentials file" };
      }
    }
  }
  const name = parts.at(-1);
  if (name === undefined) return undefined;
  for (const secret of secretNames) if (secret.pattern.test(name)) return { kind: secret.kind };
  return undefined;
}

/**
 * The secret that a glob may match. `how` is `aimed` if the glob spells part of the secret's name (`.e*`, `*.pem`, `id_*`), and
 * `broad` if it matches secrets among everything else (`*`, `k*`).
 *
 * @param options.dot true if wildcards match a leading dot, as in most search tools but not in shells
 */
export function secretInGlob(
  glob: string,
  options: { readonly dot: boolean },
): (SecretPath & { readonly how: "aimed" | "broad" }) | undefined {
  const components = globComponents(glob);
  const last = components.at(-1);
  if (last === undefined) return undefined;
  const plain = components.map((component) => component.replace(/\\(.)/g, "$1"));
  const isGlob = (component: string) => /(?<!\\)[*?[{(]/.test(component);
  for (const component of plain.slice(0, -1)) {
    if (secretDirectories.has(component.toLowerCase())) return { kind: "a credentials directory", how: "aimed" };
    if (!/^\.\w.*[*?[]/.test(component)) continue;
    const matchesDirectory = globMatcher(component, { nocase: true });
    for (const directory of secretDirectories)
      if (matchesDirectory(directory)) return { kind: "a credentials directory", how: "aimed" };
  }
  if (!isGlob(last)) {
    const secret = secretPath(plain.join("/")) ?? secretPath(`/${plain.join("/")}`);
    if (secret !== undefined) return { ...secret, how: "aimed" };
    return systemSecrets.test(`/${plain.join("/").replaceAll("*", "x")}`)
      ? { kind: "a system secret", how: "aimed" }
      : undefined;
  }
  const matchesName = globMatcher(last, { nocase: true });
  const leavesHidden = !options.dot && /^[*?]/.test(last);
  const matches = (name: string): boolean => matchesName(name) && !(leavesHidden && name.startsWith("."));
  const spelled = last.replace(/\[[^\]]*\]|\\?[*?]/g, "");
  const aimed = /[a-z]/i.test(spelled) || spelled.startsWith(".");
  for (const secret of secretNames) {
    if (!secret.samples.some((sample) => matches(sample))) continue;
    return { kind: secret.kind, how: aimed && (secret.aim?.test(spelled) ?? true) ? "aimed" : "broad" };
  }
  for (const directory of secretDirectories) {
    if (spelled.startsWith(".") && matches(directory)) return { kind: "a credentials directory", how: "aimed" };
  }
  if (matches("x.pem") || matches("x.key")) {
    return {
      kind: "a private key or certificate store",
      how: /pem|p\W*e|\.p|\.k|key/i.test(spelled) ? "aimed" : "broad",
    };
  }
  // `k*` matches key.pem as much as `*` does, but is not aimed at it.
  if (/[*]$/.test(last) && aimed && !spelled.includes("."))
    return { kind: "a private key or certificate store", how: "broad" };
  return undefined;
}

/** Splits at `/`, outside braces and brackets. */
function globComponents(glob: string): readonly string[] {
  const parts: string[] = [""];
  let depth = 0;
  for (const character of glob) {
    if (character === "{" || character === "[") depth += 1;
    if (character === "}" || character === "]") depth = Math.max(0, depth - 1);
    if (character === "/" && depth === 0) parts.push("");
    else parts[parts.length - 1] += character;
  }
  return parts.filter((part) => part !== "");
}
