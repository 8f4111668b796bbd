import { isWithin } from "@gennai/protocol/is-within";
import { foldPath } from "../../command/words/fold-name.ts";
import type { CommandPath } from "../../command-analysis.ts";
import type { FileWrite, WorkspacePath } from "../../effect.ts";
import type { Policy } from "../../policy.ts";
import { shownNames } from "../../shown-names.ts";
import { allow, ask, deny, strictest, type Verdict } from "../../verdict.ts";
import { type ControlPath, controlGlob, controlPath } from "./control-paths.ts";
import { type EntriesIn, isHead, isUnusualFile } from "./unusual-file.ts";

/**
 * The agent may not change the workspace's control files or propose changes to them, existing or not: git's data, editor and
 * agent configuration, intents, ledger, tool servers. Files that tools run or obey ask, and so do new files of an unusual kind,
 * because tools may run or obey them: no list names all such files.
 *
 * @param options.directories more protected directories, relative to the workspace, e.g. that of `core.hooksPath`
 * @param options.root real absolute path of the workspace; nothing above it is protected here
 * @param options.entriesIn what is there now; a staged command's changes are not visible yet
 */
export function createControlFilesPolicy(options: {
  readonly root: string;
  readonly entriesIn: EntriesIn;
  readonly directories?: readonly string[];
}): Policy {
  const more = (options.directories ?? [])
    .map((directory) => foldPath(directory).join("/"))
    .filter((directory) => directory !== "");

  const find = (relative: string, pattern: boolean): ControlPath | undefined => {
    const known = pattern ? controlGlob(relative) : controlPath(relative);
    if (known !== undefined) return known;
    const folded = foldPath(relative).join("/");
    return more.some((directory) => isWithin(folded, { directory }))
      ? { level: "protected", what: "a directory of hooks" }
      : undefined;
  };

  const ofPath = (path: WorkspacePath): ControlPath | undefined => {
    const real = path.inside ? find(path.relative, false) : controlPath(path.absolute);
    if (real?.level === "protected") return real;
    // The path as the model wrote it counts too: a link may lead away from the name, but the name was intended.
    return controlPath(withoutRoot(path.raw, options.root)) ?? real;
  };

  const ofCommand = (path: CommandPath, staged: boolean): Verdict => {
    const relative = withoutRoot(path.absolute, options.root);
    const control = find(relative, path.pattern === true);
    if (control === undefined) return allow;
    switch (path.access) {
      case "list":
        return allow;
      case "read":
        // A staged command gets a copy of it without them.
        return !staged && /(?:^|\/)\.git\/(?:.*\/)?config(?:\.worktree)?$/i.test(relative)
          ? ask({
              code: "control_file",
              rule: "control-files/git-config",
              reason: `${path.raw} may hold credentials for a remote.`,
            })
          : allow;
      case "write":
      case "delete":
        // A staged command's change is examined, and asked about, after the run.
        return staged && control.level === "sensitive" ? allow : refuse(path.raw, control);
      case "unknown":
        return control.level === "protected" && !staged ? refuse(path.raw, control) : allow;
    }
  };

  return {
    name: "control-files",
    kind: "guard",
    async decide({ analysis }) {
      const verdicts: Verdict[] = [allow];
      const created: WorkspacePath[] = [];
      for (const effect of analysis.effects) {
        if (effect.type === "write" || effect.type === "propose") {
          const control = ofPath(effect.path);
          // The user sees a proposal before anything is written, so only what is never the agent's is refused.
          const isAgreed = effect.type === "write" && effect.found?.agreed === true;
          if (control !== undefined && !isAgreed && (effect.type === "write" || control.level === "protected")) {
            verdicts.push(refuse(effect.path.raw, control));
          }
          if (control === undefined && !isAgreed && isCreated(effect)) created.push(effect.path);
          if (control === undefined && !isAgreed && effect.type === "write" && effect.operation !== "delete") {
            if (await isOfRepository(effect.path.relative, options.entriesIn)) {
              verdicts.push(refuse(effect.path.raw, { level: "sensitive", what: "what git obeys in a repository" }));
            }
          }
        } else if (effect.type === "external" && !effect.readsOnly) {
          for (const path of effect.paths) {
            const control = ofPath(path);
            if (control !== undefined) verdicts.push(refuse(path.raw, control));
          }
        } else if (effect.type === "exec") {
          if (!effect.command.readsOnly && controlPath(effect.cwd.relative)?.level === "protected") {
            verdicts.push(refuse(effect.cwd.raw, { level: "protected", what: "a directory of control files" }));
          }
          for (const path of effect.command.paths) verdicts.push(ofCommand(path, effect.staged === true));
        }
      }
      return strictest([...verdicts, await ofNew(created, options.entriesIn)]);
    },
  };
}

/** Git takes a directory of any name for a repository's data if a `HEAD` is in it, and runs what its settings and hooks say. */
async function isOfRepository(path: string, entriesIn: EntriesIn): Promise<boolean> {
  const obeyed = /^(?:(.+)\/)?(?:config(?:\.worktree)?|commondir|hooks\/[^/]+)$/i.exec(path);
  return obeyed !== null && (await entriesIn(obeyed[1] ?? "")).some(isHead);
}

/** Git's status shows it as a new file: what git ignores is judged elsewhere. */
function isCreated(effect: FileWrite | { readonly type: "propose" }): boolean {
  return effect.type === "write" && effect.operation === "create" && effect.found?.ignored !== true;
}

async function ofNew(created: readonly WorkspacePath[], entriesIn: EntriesIn): Promise<Verdict> {
  const known = new Map<string, ReturnType<EntriesIn>>();
  const once: EntriesIn = (directory) => {
    const entries = known.get(directory) ?? entriesIn(directory);
    known.set(directory, entries);
    return entries;
  };
  const unusual: string[] = [];
  for (const { inside, relative, absolute } of created)
    if (!inside || (await isUnusualFile(relative, once))) unusual.push(inside ? relative : absolute);
  if (unusual.length === 0) return allow;
  const reason = `Tools may run or obey these new files: ${shownNames(unusual, 5)}.`;
  return ask({ code: "control_file", rule: "control-files/new", reason });
}

function refuse(raw: string, control: ControlPath): Verdict {
  if (control.level === "sensitive") {
    return ask({ code: "control_file", rule: "control-files/sensitive", reason: `${raw} is ${control.what}.` });
  }
  return deny({
    code: "control_file",
    rule: "control-files/protected",
    reason: `Security Policy Violation: ${raw} is ${control.what}, which the agent does not change.`,
    hint: "Ask the user to make this change.",
  });
}

function withoutRoot(path: string, root: string): string {
  return path === root ? "" : path.startsWith(`${root}/`) ? path.slice(root.length + 1) : path;
}
