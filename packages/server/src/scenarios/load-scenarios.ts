import { constants } from "node:fs";
import { open, readdir, realpath } from "node:fs/promises";
import { join, sep } from "node:path";
import { builtInScenarios } from "@gennai/agent/scenarios/built-in-scenarios";
import { parseScenarios } from "@gennai/agent/scenarios/parse-scenarios";
import { describeScenarioProblem, type Scenario } from "@gennai/agent/scenarios/scenario";
import { parseStrictYaml, YamlError } from "./strict-yaml.ts";

export interface LoadedScenarios {
  /** By name, the built-in ones included. */
  readonly scenarios: Map<string, Scenario>;
  /** For people: what was left out or read differently, with file and line. */
  readonly warnings: string[];
}

const folder = ".gennai/scenarios";
const maxBytes = 256 * 1024;
const maxFiles = 200;

/**
 * The built-in scenarios, and over them those of `.gennai/scenarios/*.yaml` in the workspace, in the order of file names; of
 * two files with one name, the first wins. Never throws for what stands in the workspace: bad files become warnings.
 */
export async function loadScenarios(workspaceRoot: string): Promise<LoadedScenarios> {
  const scenarios = new Map(builtInScenarios);
  const warnings: string[] = [];
  const root = await realpath(workspaceRoot);
  const names = await scenarioFiles(root, warnings);
  const origin = new Map<string, string>();
  for (const name of names) {
    const file = `${folder}/${name}`;
    try {
      const text = await readInside(root, join(root, folder, name));
      const yaml = parseStrictYaml(text, file);
      const parsed = parseScenarios(yaml.data, { file, lineOf: yaml.lineOf }, builtInScenarios);
      warnings.push(...parsed.problems.map(describeScenarioProblem));
      for (const scenario of parsed.scenarios) {
        const first = origin.get(scenario.name);
        if (first === undefined) {
          origin.set(scenario.name, file);
          scenarios.set(scenario.name, scenario);
        } else {
          warnings.push(
            `${file}: ${scenario.name}: is defined in ${first} already and ignored here; rename one of them`,
          );
        }
      }
    } catch (error) {
      if (error instanceof YamlError || error instanceof UnreadableFile) warnings.push(error.message);
      else warnings.push(`${file}: could not be read (${errorCode(error)}); check the file's permissions`);
    }
  }
  return { scenarios, warnings };
}

async function scenarioFiles(root: string, warnings: string[]): Promise<readonly string[]> {
  let entries: readonly string[];
  try {
    const real = await realpath(join(root, folder));
    if (!isInside(root, real)) {
      warnings.push(`${folder}: leads out of the workspace and is ignored; make it a plain directory`);
      return [];
    }
    entries = await readdir(real);
  } catch (error) {
    if (errorCode(error) !== "ENOENT") warnings.push(`${folder}: could not be listed (${errorCode(error)})`);
    return [];
  }
  const names = entries.filter((name) => /\.ya?ml$/i.test(name) && !name.startsWith(".")).sort();
  if (names.length > maxFiles) {
    warnings.push(`${folder}: has ${names.length} files, only the first ${maxFiles} are read; join some of them`);
  }
  return names.slice(0, maxFiles);
}

class UnreadableFile extends Error {}

/** Reads a regular file by one handle, so that what was checked is what is read. */
async function readInside(root: string, path: string): Promise<string> {
  const file = `${folder}/${path.slice(path.lastIndexOf(sep) + 1)}`;
  const real = await realpath(path);
  if (!isInside(root, real))
    throw new UnreadableFile(`${file}: leads out of the workspace and is ignored; copy the file in`);
  // Non-blocking: opening a named pipe would wait for a writer for ever.
  await using handle = await open(real, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  const stat = await handle.stat();
  if (!stat.isFile()) throw new UnreadableFile(`${file}: is no regular file and is ignored`);
  const buffer = Buffer.alloc(maxBytes + 1);
  let length = 0;
  while (length < buffer.length) {
    const { bytesRead } = await handle.read(buffer, length, buffer.length - length, length);
    if (bytesRead === 0) break;
    length += bytesRead;
  }
  if (length > maxBytes)
    throw new UnreadableFile(`${file}: is larger than ${maxBytes / 1024} KiB and is ignored; split it`);
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(buffer.subarray(0, length));
  } catch {
    throw new UnreadableFile(`${file}: is not UTF-8 text and is ignored; save it as UTF-8`);
  }
}

function isInside(root: string, real: string): boolean {
  return real === root || real.startsWith(root.endsWith(sep) ? root : root + sep);
}

function errorCode(error: unknown): string {
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : "unknown error";
}
