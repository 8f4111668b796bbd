import { isAbsolute } from "node:path";
import { announcedSecrets } from "../redaction/announced-secrets.ts";
import { tokenShapes } from "../redaction/token-shapes.ts";
import { certificateVariables } from "./certificate-variables.ts";

type Environment = Readonly<Record<string, string | undefined>>;

/** Variables that programs need to run and to find their caches; no others are passed on. */
const passed = new Set(
  [
    "HOME USER LOGNAME SHELL LANG LANGUAGE TZ TMPDIR TMP TEMP CI NO_COLOR COLORTERM NODE_ENV",
    "XDG_CACHE_HOME XDG_CONFIG_HOME XDG_DATA_HOME XDG_STATE_HOME",
    "JAVA_HOME GOPATH GOROOT GOCACHE GOMODCACHE GOFLAGS GOPROXY CARGO_HOME RUSTUP_HOME RUSTUP_TOOLCHAIN",
    "NVM_DIR NVM_BIN VOLTA_HOME PNPM_HOME COREPACK_HOME PYENV_ROOT VIRTUAL_ENV CONDA_PREFIX RBENV_ROOT GEM_HOME",
    "MAVEN_HOME GRADLE_HOME GRADLE_USER_HOME ANDROID_HOME DOTNET_ROOT NUGET_PACKAGES PKG_CONFIG_PATH CC CXX MAKEFLAGS",
    "SSL_CERT_DIR",
    "HTTP_PROXY HTTPS_PROXY ALL_PROXY NO_PROXY http_proxy https_proxy all_proxy no_proxy",
    ...certificateVariables,
  ].flatMap((names) => names.split(" ")),
);

/** Nobody sits at a terminal: an editor or a pager would wait until the deadline. An editor that changes nothing takes what is there. */
const atNoTerminal: Readonly<Record<string, string>> = {
  TERM: "dumb",
  PAGER: "cat",
  GIT_PAGER: "cat",
  ...Object.fromEntries(["EDITOR", "VISUAL", "GIT_EDITOR", "GIT_SEQUENCE_EDITOR"].map((name) => [name, "true"])),
};

/** Variable of commands that lists those that the user named for them and that are not passed. */
export const variablesNotPassed = "GENNAI_VARIABLES_NOT_PASSED";

/**
 * The environment for a command: only names from a fixed list, and those that the user named, without values that look like a
 * login. `PATH` keeps only absolute directories, so that the working directory does not decide which program is found.
 */
export function commandEnvironment(own: Environment, named: readonly string[] = []): Record<string, string> {
  const environment: Record<string, string> = {};
  for (const [name, value] of Object.entries(own)) {
    if (value === undefined || value === "") continue;
    if (name === "PATH") {
      environment[name] = value
        .split(":")
        .filter((directory) => isAbsolute(directory))
        .join(":");
    } else if (passed.has(name) || /^LC_[A-Z]+$/.test(name)) {
      if (!holdsCredential(value)) environment[name] = value;
    } else if (named.includes(name) && !looksLikeLogin(name, value)) environment[name] = value;
  }
  environment["PATH"] ??= "/usr/local/bin:/usr/bin:/bin";
  const left = named.filter((name) => own[name] && environment[name] === undefined);
  if (left.length > 0) environment[variablesNotPassed] = left.join(" ");
  return { ...environment, ...atNoTerminal };
}

/** By its name, or by what it holds. */
export function looksLikeLogin(name: string, value: string): boolean {
  return (
    /^GENNAI_|TOKEN|SECRET|PASSW|CREDENTIAL|API_?KEY|(?:PRIVATE|ACCESS)_KEY|_PAT$|_AUTH$|AUTH_SOCK$/i.test(name) ||
    holdsCredential(value) ||
    // One long word of letters and digits.
    /^(?=.*\d)(?=.*[A-Za-z])\w[\w+=-]{23,}$/.test(value) ||
    tokenShapes(value).length > 0 ||
    announcedSecrets(`${name}=${value}`).length > 0
  );
}

/** A URL with a user in it. */
function holdsCredential(value: string): boolean {
  return /:\/\/[^/\s]*@/.test(value);
}
