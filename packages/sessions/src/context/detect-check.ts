import { existsSync } from "node:fs";
import { join } from "node:path";
import { knownPrograms } from "@gennai/governance/programs/known-programs";
import { loadProjectConfig } from "@gennai/machine/config/project-config";
import { readControlFile } from "@gennai/machine/workspace/files/read-control-file";
import { parsedJson } from "@gennai/protocol/json-value";
import * as z from "zod";

/** A quick check of a project: types, lints, no tests. */
export interface ProjectCheck {
  readonly command: string;
  /** Where it is defined, e.g. `.gennai/config.yaml`. */
  readonly source: string;
  /** The repository defines the command or the code it runs: a user must accept it. */
  readonly fromRepository: boolean;
}

const maxBytes = 1024 * 1024;

/** Package scripts that check without changing anything, best first. */
const scriptNames = ["typecheck", "type-check", "check", "check-types", "lint"] as const;

const packageSchema = z.object({ scripts: z.record(z.string(), z.unknown()).optional() });

/**
 * The configured check, else the first one that the project's files suggest; undefined if there is none.
 * @param root real path of the workspace
 */
export async function findCheck(root: string, configured: string | undefined): Promise<ProjectCheck | undefined> {
  if (configured !== undefined) {
    return { command: configured, source: ".gennai/config.yaml", fromRepository: true };
  }
  const manifest = await read(root, "package.json");
  const script = manifest === undefined ? undefined : scriptOf(manifest);
  if (script !== undefined) {
    return { command: `${await packageManager(root)} run ${script}`, source: "package.json", fromRepository: true };
  }
  for (const { file, holds, command, obeys } of known) {
    const text = await read(root, file);
    if (text === undefined || !holds.test(text)) continue;
    // The project's own compiler, if installed.
    const local = `node_modules/.bin/${command.split(" ", 1)[0]}`;
    const installed = existsSync(join(root, local));
    if (file === "tsconfig.json" && !installed) continue;
    // A program in the workspace may come from the repository.
    return {
      command: installed ? `node_modules/.bin/${command}` : command,
      source: file,
      fromRepository: installed || obeys,
    };
  }
  return undefined;
}

/**
 * The command that decides between several attempts: the one that was asked for, else the check, else the package's tests, which
 * may take longer than a check after each edit; undefined if there is none.
 * @param root real path of the workspace
 */
export async function findDecidingCommand(root: string, asked: string): Promise<string | undefined> {
  if (asked.trim() !== "") return asked;
  const { check: configured } = await loadProjectConfig(root);
  const check = await findCheck(root, configured);
  if (check !== undefined) return check.command;
  const manifest = await read(root, "package.json");
  const tests = manifest === undefined ? undefined : scriptsOf(manifest)["test"];
  // npm puts a script that only fails into a new package.
  if (typeof tests !== "string" || tests.includes("no test specified")) return undefined;
  return `${await packageManager(root)} test`;
}

interface KnownCheck {
  readonly file: string;
  /** What the file must contain. */
  readonly holds: RegExp;
  /** A program of the toolchain that only checks. */
  readonly command: string;
  /** It runs code that the repository names: build scripts, plugins. */
  readonly obeys: boolean;
}

const known: readonly KnownCheck[] = [
  { file: "tsconfig.json", holds: /^/, command: "tsc --noEmit", obeys: false },
  { file: "Cargo.toml", holds: /^/, command: "cargo check", obeys: true },
  { file: "go.mod", holds: /^/, command: "go vet ./...", obeys: false },
  { file: "ruff.toml", holds: /^/, command: "ruff check", obeys: false },
  { file: "pyproject.toml", holds: /^\s*\[tool\.ruff/m, command: "ruff check", obeys: false },
  { file: "pyproject.toml", holds: /^\s*\[tool\.mypy/m, command: "mypy .", obeys: true },
];

function scriptOf(manifest: string): string | undefined {
  const scripts = scriptsOf(manifest);
  return scriptNames.find((name) => typeof scripts[name] === "string");
}

function scriptsOf(manifest: string): Readonly<Record<string, unknown>> {
  return packageSchema.safeParse(parsedJson(manifest)).data?.scripts ?? {};
}

/** The one whose lock file is there, else the one that every Node.js has. */
async function packageManager(root: string): Promise<string> {
  const managers = knownPrograms.filter(({ tasks }) => tasks === "package.json");
  for (const { names, lock } of managers) {
    if (lock !== undefined && (await read(root, lock, 64 * maxBytes)) !== undefined) return names;
  }
  return managers[0]?.names ?? "";
}

async function read(root: string, file: string, limit = maxBytes): Promise<string | undefined> {
  try {
    return await readControlFile(root, file, limit);
  } catch {
    return undefined;
  }
}
