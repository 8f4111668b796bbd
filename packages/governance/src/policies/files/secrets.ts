import { secretInGlob, secretPath } from "../../command/secret-paths.ts";
import { foldPath } from "../../command/words/fold-name.ts";
import type { CommandPath } from "../../command-analysis.ts";
import { pathsOf, type WorkspacePath } from "../../effect.ts";
import { globMatcher } from "../../glob-matcher.ts";
import { eachEffect, type Policy } from "../../policy.ts";
import { allow, ask, deny, type Verdict } from "../../verdict.ts";

/**
 * Globs of files whose content no search may read; a search tool leaves them out, hidden or not, in any letter case.
 * Plain gitignore syntax with braces, which every search engine reads: so they take in `.env.example` and public keys too.
 */
export const zeroAccessGlobs: readonly string[] = [
  "**/.env",
  "**/.env.*",
  "**/.envrc",
  "**/*.{pem,key,p12,pfx,ppk,jks,keystore,kdbx}",
  "**/*.tfstate{,.*}",
  "**/credentials.json",
  "**/{service,client}{-,_,}{account,secret}*.json",
  "**/{kubeconfig,.htpasswd}",
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
  return secretPath(relative) !== undefined || isRegistrySettings(relative);
}

/**
 * Files with secrets are neither read nor searched nor written nor proposed; their names may be listed. Commands that read them
 * are refused by the floor of the command analysis (see `commands`); those that read what may contain tokens ask here.
 */
export function createSecretsPolicy(): Policy {
  return eachEffect("secrets", (effect) => {
    if (effect.type === "list") return allow;
    if (effect.type === "write" && effect.found !== undefined) return ofFound(effect.path);
    // A staged one gets a copy of them without their tokens.
    if (effect.type === "exec") return effect.staged === true ? allow : effect.command.paths.map(ofCommandPath);
    const globs = effect.type === "search" && effect.glob !== undefined ? [effect.glob] : [];
    return [...pathsOf(effect).map(ofPath), ...globs.map(ofGlob)];
  });
}

function ofPath(path: WorkspacePath): Verdict {
  const secret = secretPath(path.inside ? path.relative : path.absolute) ?? secretPath(path.raw);
  if (secret !== undefined) return refuse(path.raw, secret.kind);
  return [path.relative, path.raw].some(isRegistrySettings) ? askForTokens(path.raw) : allow;
}

/** A staged command never sees existing secrets, so this file is new; its content comes from the command. */
function ofFound(path: WorkspacePath): Verdict {
  const verdict = ofPath(path);
  return verdict.type === "deny"
    ? ask({ ...verdict.finding, reason: `${path.raw} has the name of a file that holds secrets.` })
    : verdict;
}

/** Files that the floor does not cover: settings that may be read with a user's yes. */
function ofCommandPath({ absolute, raw, access, pattern }: CommandPath): Verdict {
  if (access !== "read") return allow;
  const last = foldPath(absolute).at(-1) ?? "";
  const reaches =
    pattern === true ? globMatcher(last, { nocase: true })(registrySettings) : isRegistrySettings(absolute);
  return reaches ? askForTokens(raw) : allow;
}

const registrySettings = ".npmrc";

function isRegistrySettings(path: string): boolean {
  return foldPath(path).at(-1) === registrySettings;
}

function askForTokens(raw: string): Verdict {
  return ask({
    code: "zero_access",
    rule: "secrets/may-hold-tokens",
    reason: `${raw} may hold tokens for a package registry.`,
  });
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
