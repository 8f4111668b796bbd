import { readdir, realpath } from "node:fs/promises";
import { join } from "node:path";
import { builtInScenarios } from "@gennai/agent/scenarios/built-in-scenarios";
import { parseScenarios } from "@gennai/agent/scenarios/parse-scenarios";
import { describeScenarioProblem, type Scenario } from "@gennai/agent/scenarios/scenario";
import { parseStrictYaml, YamlError } from "@gennai/machine/config/strict-yaml";
import { ServiceError } from "@gennai/machine/service-error";
import { hasCode, systemErrorCode } from "@gennai/machine/system-error";
import { readControlFile, UnreadableFile } from "@gennai/machine/workspace/files/read-control-file";
import { isWithin } from "@gennai/protocol/is-within";
import type { Session } from "../session/session.ts";
import { scenarioForProposals } from "./proposal-mode.ts";

export interface LoadedScenarios {
  /** By name, the built-in ones included. */
  readonly scenarios: Map<string, Scenario>;
  /** For users: what was left out or read differently, with file and line. */
  readonly warnings: string[];
}

const folder = ".gennai/scenarios";
const maxBytes = 256 * 1024;
const maxFiles = 200;

/**
 * The built-in scenarios, overridden by `.gennai/scenarios/*.yaml` in the workspace, in the order of file names; if two files
 * define one name, the first wins. Never throws because of the workspace: invalid files become warnings.
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
      const text = await readControlFile(root, file, maxBytes);
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
      if (error instanceof YamlError) warnings.push(error.message);
      else if (error instanceof UnreadableFile) warnings.push(`${error.message}; it is ignored`);
      else
        warnings.push(
          `${file}: could not be read (${systemErrorCode(error) ?? "unknown error"}); check the file's permissions`,
        );
    }
  }
  return { scenarios, warnings };
}

async function scenarioFiles(root: string, warnings: string[]): Promise<readonly string[]> {
  let entries: readonly string[];
  try {
    const real = await realpath(join(root, folder));
    if (!isWithin(real, { directory: root })) {
      warnings.push(`${folder}: leads out of the workspace and is ignored; make it a plain directory`);
      return [];
    }
    entries = await readdir(real);
  } catch (error) {
    if (!hasCode(error, "ENOENT"))
      warnings.push(`${folder}: could not be listed (${systemErrorCode(error) ?? "unknown error"})`);
    return [];
  }
  const names = entries.filter((name) => /\.ya?ml$/i.test(name) && !name.startsWith(".")).sort();
  if (names.length > maxFiles) {
    warnings.push(`${folder}: has ${names.length} files, only the first ${maxFiles} are read; join some of them`);
  }
  return names.slice(0, maxFiles);
}

/**
 * The scenario with this name, in any letter case; empty: the editing mode's default. Throws `ServiceError` for an unknown
 * name.
 */
export async function chooseScenario(
  session: Session,
  asked: string,
): Promise<{ readonly scenario: Scenario; readonly warnings: readonly string[] }> {
  const isProposal = session.settings.editingMode === "proposal";
  const name = asked === "" ? (isProposal ? await scenarioForProposals(session) : "CODE") : asked;
  const { scenarios, warnings } = await loadScenarios(session.workspace.controlRoot);
  const scenario = scenarios.get(name.toUpperCase());
  if (scenario !== undefined) return { scenario, warnings };
  throw new ServiceError("not_found", `There is no scenario ${JSON.stringify(name.slice(0, 100))}.`, {
    hint: [`Scenarios: ${[...scenarios.keys()].join(", ")}.`, ...warnings].join(" "),
  });
}
