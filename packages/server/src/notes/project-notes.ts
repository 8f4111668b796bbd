import type { Redactor } from "@gennai/governance/redaction";
import { systemErrorCode } from "../workspace/file-failure.ts";
import { readControlFile, UnreadableFile } from "../workspace/read-control-file.ts";

/** Notes for agents, at the workspace's root. The first that says something is shown first. */
export const projectNoteFiles = ["AGENTS.md", "AGENT.md", "CLAUDE.md"] as const;

const maxBytes = 64 * 1024;

export interface ProjectNotes {
  /** For the system prompt, redacted; empty when there are none. */
  readonly text: string;
  /** Files that are there and were left out: file and reason. */
  readonly warnings: readonly string[];
}

/**
 * Reads the project's notes for agents. A text that stands in two files, or in one file under two names, comes once.
 * @param root real path of the workspace
 */
export async function readProjectNotes(root: string, redactor: Redactor): Promise<ProjectNotes> {
  const warnings: string[] = [];
  const texts = new Map<string, string[]>();
  for (const file of projectNoteFiles) {
    try {
      const text = visible(await readControlFile(root, file, maxBytes)).trim();
      if (text !== "") texts.set(text, [...(texts.get(text) ?? []), file]);
    } catch (error) {
      const code = systemErrorCode(error);
      if (code === "ENOENT" || code === "ENOTDIR") continue;
      const why =
        error instanceof UnreadableFile ? error.message : `${file}: cannot be read (${code ?? "unknown error"})`;
      warnings.push(`${why}; it is not part of the prompt`);
    }
  }
  const parts = [...texts].map(([text, files]) => `## ${files.join(", ")}\n\n${text}`);
  return { text: await redactor.redact(parts.join("\n\n")), warnings };
}

/** Characters that a reviewer of the file cannot see may not speak to the model: tags, bidi marks, controls. */
function visible(text: string): string {
  return text
    .replaceAll("\r\n", "\n")
    .replaceAll(/[\u{E0000}-\u{E007F}\u202a-\u202e\u2066-\u2069\u200b\u2060\ufeff]|[^\P{Cc}\n\t]/gu, "");
}
