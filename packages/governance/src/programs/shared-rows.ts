import type { DangerRow, Verb } from "./program.ts";

/** Its words name packages or scripts. */
export const names: Verb = { names: true };
export const gets: Verb = { ...names, reaches: true };
export const asks: Verb = { ...gets, login: true };
/** Fetches packages into the project; their scripts run in a step of their own. */
export const installs: Verb = { ...asks, writes: "packages", apart: "install" };
export const removes: Verb = { ...names, writes: "packages" };
/** In a manifest: dependencies are added, taken away, or it is begun. */
export const adds: Verb = { ...gets, writes: "manifests" };
export const takes: Verb = { ...names, writes: "manifests" };
export const begins: Verb = { writes: "manifests" };
export const publishes: Verb = { reaches: true, login: true, deploys: true };

/** Words with which a program of an account or a cloud only looks. */
export const looking = /^(?:list|ls|view|status|describe(?:-.*)?|get(?:-.*)?|show|help|--version|--help|info|logs?)$/;

export const signsIn: DangerRow = {
  rule: "floor/deploy",
  verdict: "ask",
  reason: "$ signs in, or changes what others use.",
  any: /^(?:owner|access|token|log-?in|logout|adduser|signin|profile|team|org|hook|gist|repo|secret|variable|auth|api|ssh-key|gpg-key|codespace|extension)$/,
  none: looking,
};

/** An option of an everyday program that makes it run another one. */
export const hiddenProgram = (any: RegExp): DangerRow => ({
  rule: "floor/hidden-program",
  verdict: "deny",
  reason: "$ would run a program of the command's choice.",
  held: true,
  any,
});

/** Of Windows. */
export const ofWindows: DangerRow = {
  rule: "floor/windows-destructive",
  verdict: "ask",
  reason: "$ is a command of Windows that can destroy or run what is not seen.",
};

export const sends: DangerRow = {
  rule: "floor/send-data",
  verdict: "ask",
  reason: "$ can send data out of the machine.",
  none: /^-(?:-?version|V|h|-help)$/,
};

// `-E` takes a value of rg, and none of the others.
export const search = "-i -n -l -c -v -w -o -s -q -h -H -a -F -A= -B= -C= -m= -e=!";
