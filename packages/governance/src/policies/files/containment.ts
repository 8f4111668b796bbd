import { isWithin } from "@gennai/protocol/is-within";
import { isTemporary, temporaryDirectories } from "../../command/words/temporary-directories.ts";
import type { CommandPath } from "../../command-analysis.ts";
import { pathsOf, type WorkspacePath } from "../../effect.ts";
import { eachEffect, type Policy } from "../../policy.ts";
import { allow, ask, deny, type Verdict } from "../../verdict.ts";

/** Places of the system that hold programs and plain facts: reading them tells nothing about the user. */
const openPlaces: readonly string[] = [
  "/usr",
  "/bin",
  "/sbin",
  "/lib",
  "/lib64",
  "/opt",
  "/Library/Developer",
  "/System",
  "/nix/store",
  "/etc/os-release",
  "/etc/hosts",
  "/etc/hostname",
  "/etc/timezone",
  "/etc/localtime",
  "/etc/issue",
  "/etc/lsb-release",
  "/etc/debian_version",
  "/etc/shells",
  "/proc/cpuinfo",
  "/proc/meminfo",
  "/proc/version",
  "/proc/loadavg",
  "/proc/uptime",
  ...temporaryDirectories,
];

const harmlessDevice = /^\/dev\/(?:null|zero|stdin|stdout|stderr|tty|u?random|fd\/\d+)$/;

/**
 * No tool touches anything outside the workspace, and a command only after a user's yes. Paths of effects are real paths; those of
 * commands are lexical, and in the workspace what they lead to now: while a command runs, only the sandbox is a boundary.
 *
 * @param options.root real absolute path of the workspace
 * @param options.realPath where a path in the workspace leads, or would lead if it were made; both absolute
 */
export function createContainmentPolicy(options: {
  readonly root: string;
  readonly realPath?: ((path: string) => string) | undefined;
}): Policy {
  const { root, realPath = (path) => path } = options;
  return eachEffect("containment", (effect) => {
    if (effect.type !== "exec") return pathsOf(effect).map(insideOnly);
    const { command, cwd, staged } = effect;
    // Of the user's files it sees only the workspace, and has its own temporary directory.
    const seen = staged === true ? [] : command.paths;
    const led = seen.map((path) =>
      isWithin(path.absolute, { directory: root }) ? { ...path, absolute: realPath(path.absolute) } : path,
    );
    return [insideOnly(cwd), ...led.map((path) => commandPath(path, root, command.readsOnly))];
  });
}

function insideOnly(path: WorkspacePath): Verdict {
  return path.inside ? allow : outside(path.raw);
}

function outside(raw: string): Verdict {
  return deny({
    code: "outside_workspace",
    rule: "containment/outside-workspace",
    reason: `Security Policy Violation: ${raw} is outside the workspace.`,
    hint: "Use a path inside the workspace.",
  });
}

function commandPath(path: CommandPath, root: string, readsOnly: boolean): Verdict {
  if (isWithin(path.absolute, { directory: root }) || harmlessDevice.test(path.absolute)) return allow;
  const needsPerson = (reason: string): Verdict =>
    ask({ code: "outside_workspace", rule: "containment/command-outside-workspace", reason });
  switch (path.access) {
    case "write":
    case "delete":
      return isTemporary(path.absolute) || (path.access === "write" && temporaryDirectories.includes(path.absolute))
        ? needsPerson(`The command changes ${path.raw}, in the system's temporary directory.`)
        : outside(path.raw);
    case "list":
    case "read":
      return readsOnly && openPlaces.some((place) => isWithin(path.absolute, { directory: place }))
        ? allow
        : needsPerson(`The command reads ${path.raw}, outside the workspace.`);
    case "unknown":
      return needsPerson(`The command names ${path.raw}, outside the workspace.`);
  }
}
