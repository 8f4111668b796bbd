import { foldPath } from "../command/fold-name.ts";
import { secretInGlob, secretPath } from "../command/secret-paths.ts";
import type { WorkspacePath } from "../effect.ts";
import type { Policy } from "../policy.ts";
import { allow, ask, deny, strictest, type Verdict } from "../verdict.ts";

/**
 * Globs of files whose content no search may read; a search tool leaves them out, hidden or not, in any letter case.
 * Plain gitignore syntax with braces, which every search engine reads: so they take in `.env.example` and public keys too.
 */
export const zeroAccessGlobs: readonly string[] = [
  "**/.env",
  "**/.env.*",
  "**/*.{pem,p12,pfx,ppk,jks,keystore}",
  "**/id_{rsa,dsa,ecdsa,ed25519}*",
  "**/{.,_}netrc",
  "**/.npmrc",
  "**/.pypirc",
  "**/.pgpass",
  "**/.git-credentials",
  "**/{.ssh,.aws,.gnupg,.azure,.password-store}/**",
];

/** True for a file below the workspace that a search must leave out. */
export function isZeroAccess(relative: string): boolean {
  return secretPath(relative) !== undefined || foldPath(relative).at(-1) === ".npmrc";
}

/**
 * Files that hold secrets are neither read nor searched nor written nor proposed; their names may be listed.
 * Commands that read them are refused by the floor of the command analysis, which `commands` speaks for.
 */
export function createSecretsPolicy(): Policy {
  return {
    name: "secrets",
    kind: "guard",
    decide({ analysis }) {
      const verdicts: Verdict[] = [allow];
      for (const effect of analysis.effects) {
        switch (effect.type) {
          case "read":
          case "write":
          case "propose":
            verdicts.push(ofPath(effect.path));
            break;
          case "search":
            verdicts.push(ofPath(effect.path));
            if (effect.glob !== undefined) verdicts.push(ofGlob(effect.glob));
            break;
          case "external":
            verdicts.push(...effect.paths.map(ofPath));
            break;
          case "list":
          case "exec":
          case "net":
          case "session":
            break;
        }
      }
      return strictest(verdicts);
    },
  };
}

function ofPath(path: WorkspacePath): Verdict {
  const secret = secretPath(path.inside ? path.relative : path.absolute) ?? secretPath(path.raw);
  if (secret !== undefined) return refuse(path.raw, secret.kind);
  if ([path.relative, path.raw].some((form) => foldPath(form).at(-1) === ".npmrc")) {
    return ask({
      code: "zero_access",
      rule: "secrets/may-hold-tokens",
      reason: `${path.raw} may hold tokens for a package registry.`,
    });
  }
  return allow;
}

function ofGlob(glob: string): Verdict {
  if (glob.startsWith("!")) return allow;
  const secret = secretInGlob(glob, { dot: true });
  return secret?.how === "aimed" ? refuse(glob, secret.kind) : allow;
}

function refuse(raw: string, kind: string): Verdict {
  return deny({
    code: "zero_access",
    rule: "secrets/zero-access",
    reason: `Security Policy Violation: ${raw} is ${kind}; its content is not for the agent.`,
    hint: "Work without its content, or ask the user for the one fact you need.",
  });
}
