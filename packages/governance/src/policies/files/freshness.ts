import type { FileWrite } from "../../effect.ts";
import { eachEffect, type Policy } from "../../policy.ts";
import { allow, deny, type Verdict } from "../../verdict.ts";

/** A file changes only on the base of what the session saw of it: bytes against bytes, never time stamps. */
export function createFreshnessPolicy(): Policy {
  return eachEffect("freshness", (effect) =>
    effect.type === "write" && effect.found === undefined ? freshness(effect) : allow,
  );
}

/** The verdict on one write; the workspace asks it again right before the effect. */
function freshness(write: FileWrite): Verdict {
  const { base, current, operation } = write;
  const path = write.path.relative === "" ? write.path.raw : write.path.relative;
  if (operation === "create") {
    if (current === undefined) {
      return base === undefined
        ? allow
        : stale(path, "is gone since it was read", "Read the directory again before you create it anew.");
    }
    if (base === undefined) {
      return deny({
        code: "file_exists",
        rule: "freshness/file-exists",
        reason: `${path} exists already and has not been read in this session.`,
        hint: `Read ${path} first, then update it.`,
        retryable: true,
      });
    }
  } else if (base === undefined) {
    return deny({
      code: "not_read",
      rule: "freshness/not-read",
      reason: `Stale File: ${path} has not been read in this session.`,
      hint: `Read ${path} first, then try again.`,
      retryable: true,
    });
  }
  if (base === undefined || base.sha256 === current) return allow;
  if (current === undefined) return stale(path, "is gone since it was read", "Look whether the user deleted it.");
  return base.source === "buffer"
    ? stale(
        path,
        "differs from the editor's buffer that was read",
        `Read ${path} again: the buffer may not be saved, or it changed.`,
      )
    : stale(path, "changed since it was read", `Read ${path} again, then repeat the change on its new content.`);
}

function stale(path: string, what: string, hint: string): Verdict {
  return deny({
    code: "stale_file",
    rule: "freshness/stale-file",
    reason: `Stale File: ${path} ${what}.`,
    hint,
    retryable: true,
  });
}
