import { lstatSync, realpathSync } from "node:fs";
import { join } from "node:path";
import * as z from "zod";
import { ServiceError } from "../service-error.ts";
import { readControlFile, UnreadableFile } from "../workspace/files/read-control-file.ts";
import { parseStrictYaml, YamlError } from "./strict-yaml.ts";

const projectConfigFile = ".gennai/config.yaml";
const maxBytes = 64 * 1024;

const globs = z.array(z.string().min(1).max(1000)).max(1000);

/** The shape of the file; `docs/reference/settings.md` is generated from it. */
export const projectConfigSchema = z.strictObject({
  paths: z
    .strictObject({
      allow: globs.optional().describe("What the agent may reach. Without it: everything in the workspace."),
      deny: globs.optional().describe("What it may not reach; wins over `allow`."),
    })
    .optional()
    .describe("Globs relative to the workspace, as in `.gitignore`."),
  protected_branches: globs.optional().describe("Branches, as globs, on which the agent never writes."),
  check: z
    .string()
    .trim()
    .min(1)
    .max(1000)
    .optional()
    .describe("A command that checks a change quickly: types, lints. A person accepts it before it runs."),
});

/** What a project asks of every session in it. It can only tighten what the server allows anyway. */
export interface ProjectConfig {
  /** undefined: everything in the workspace. */
  readonly allowPaths: readonly string[] | undefined;
  readonly denyPaths: readonly string[];
  readonly protectedBranches: readonly string[];
  /** The project's quick check, as a shell command. */
  readonly check: string | undefined;
}

const empty: ProjectConfig = { allowPaths: undefined, denyPaths: [], protectedBranches: [], check: undefined };

/**
 * Reads `.gennai/config.yaml`. If the file exists but cannot be read completely, the turn stops: configured rules must never be
 * ignored. Throws `ServiceError` with file, line and field.
 */
export async function loadProjectConfig(workspaceRoot: string): Promise<ProjectConfig> {
  let text: string;
  try {
    // The file is usually missing, and is checked several times in a turn.
    if (lstatSync(join(workspaceRoot, projectConfigFile), { throwIfNoEntry: false }) === undefined) return empty;
    text = await readControlFile(realpathSync.native(workspaceRoot), projectConfigFile, maxBytes);
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : undefined;
    if (code === "ENOENT" || code === "ENOTDIR") return empty;
    throw unusable(
      error instanceof UnreadableFile ? error.message : `${projectConfigFile}: cannot be read (${String(code)})`,
      error,
    );
  }
  try {
    const yaml = parseStrictYaml(text, projectConfigFile);
    const parsed = projectConfigSchema.safeParse(yaml.data ?? {});
    if (!parsed.success) {
      const [issue] = parsed.error.issues;
      const path = (issue?.path ?? []).filter((part) => typeof part !== "symbol");
      const line = yaml.lineOf(path) ?? 1;
      throw unusable(
        `${projectConfigFile}:${line}: ${[path.join("."), issue?.message].filter(Boolean).join(": ")}`,
        parsed.error,
      );
    }
    const { paths, protected_branches: branches, check } = parsed.data;
    return { allowPaths: paths?.allow, denyPaths: paths?.deny ?? [], protectedBranches: branches ?? [], check };
  } catch (error) {
    if (error instanceof YamlError) throw unusable(error.message, error);
    throw error;
  }
}

function unusable(message: string, cause: unknown): ServiceError {
  return new ServiceError("failed_precondition", message, {
    hint: "Correct the file; until then no turn starts in this workspace.",
    cause,
  });
}
