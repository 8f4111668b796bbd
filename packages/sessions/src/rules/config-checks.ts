import { homedir } from "node:os";
import { join } from "node:path";
import { doubledExports, exportsOf } from "@gennai/governance/limits/laid-down";
import { problemOf } from "@gennai/governance/limits/limits";
import { loadPeople } from "@gennai/machine/config/people-file";
import { loadServerConfig } from "@gennai/machine/config/server-config";
import type { Check, Finding } from "@gennai/machine/finding";
import { looksLikeLogin } from "@gennai/machine/process/command-environment";
import { defaultCommandLimits, inMebibytes } from "@gennai/machine/process/command-limits";
import { modelsFile, readModelsFile } from "@gennai/models/models-file";
import { providers } from "@gennai/models/providers";
import { machineChecks } from "@gennai/shell/machine-checks";
import { exportBacklog } from "@gennai/store/ledger/export-cursor";
import { stateChecks } from "@gennai/store/state-checks";
import { McpAcceptance } from "../mcp/mcp-acceptance.ts";
import { loadLimits } from "./load-limits.ts";
import { RulesService } from "./rules-service.ts";
import { WorkspaceHooks } from "./workspace-hooks.ts";

export interface ConfigDirectories {
  readonly stateDir: string;
  readonly configDir: string;
  /** Real path. */
  readonly workspace: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Of this program. */
  readonly version: string;
}

/** Checks whether the configuration files are valid. Starts nothing, asks no provider and prints no key. */
function configChecks(place: ConfigDirectories): readonly Check[] {
  return [
    { name: "rules", run: () => rulesFinding(place) },
    { name: "server.json", run: () => serverFinding(place) },
    { name: "policy", run: () => policyFinding(place) },
    { name: "export", run: () => exportFindings(place) },
    { name: "people", run: () => peopleFinding(place) },
    { name: "hooks", run: () => hooksFinding(place) },
    { name: "mcp", run: () => mcpFindings(place) },
    { name: "models", run: () => modelsFinding(place) },
  ];
}

async function rulesFinding({ workspace, environment }: ConfigDirectories): Promise<Finding> {
  const configHome = environment["XDG_CONFIG_HOME"];
  await using rules = await RulesService.open({
    root: workspace,
    home: environment["HOME"] ?? homedir(),
    ...(configHome?.startsWith("/") === true ? { configDir: configHome } : {}),
  });
  const { text, problems } = rules.status();
  if (problems.length === 0) return { check: "rules", state: "ok", text };
  const next = ["gennai policy test"];
  return { check: "rules", state: "fail", text: `${text}: ${problems.slice(0, 3).join("; ")}`, next };
}

async function policyFinding(place: ConfigDirectories): Promise<Finding> {
  const { configDir, environment } = place;
  const check = "policy";
  const loaded = await loadLimits({ ...place, required: false }, Date.now);
  const limits = loaded.current();
  const problem = problemOf(limits);
  if (problem !== undefined) {
    const isBehind = limits.some(({ problemCode }) => problemCode === "export_behind");
    const what = isBehind ? "See below that it takes records again" : "Put a policy there that can be used";
    const next = [`${what}; until then only reading is permitted.`];
    return { check, state: "fail", text: problem, next };
  }
  const old = [environment["GENNAI_CAPABILITIES"], join(configDir, "capabilities.json")].find((file) =>
    limits.some((limit) => limit.file === file),
  );
  if (old !== undefined) {
    const next = ["Write it as a policy, sign it with gennai policy sign, and remove the old file."];
    return { check, state: "warn", text: `${old} is read by this release for the last time`, next };
  }
  if (limits.length === 0)
    return { check, state: "ok", text: "not managed, and none signed: a server with --auth permits only reading" };
  if (loaded.warnings.length > 0) {
    return { check, state: "warn", text: loaded.warnings.join(" "), next: ["Renew the policy before it ends."] };
  }
  const until = limits.map(({ name, expires, holder }) => {
    const by = holder === "root" ? `managed by ${name}` : name;
    return expires === undefined ? by : `${by}, until ${new Date(expires).toISOString()}`;
  });
  return { check, state: "ok", text: until.join("; ") };
}

async function serverFinding({ configDir, environment }: ConfigDirectories): Promise<Finding> {
  const check = "server.json";
  const { problem, commandLimits, commandVariables, commandsShow } = await loadServerConfig(configDir);
  if (problem !== undefined) {
    const next = ["Correct or remove the file: until then no server starts."];
    return { check, state: "fail", text: problem, next };
  }
  const limits = { ...defaultCommandLimits, ...commandLimits };
  const most = `${inMebibytes(limits.memoryBytes)} of memory and write ${inMebibytes(limits.writtenBytes)}`;
  const text = `a command may hold ${most}: it is watched and ended when it goes over; no control group limits it`;
  const refused = commandVariables.filter((name) => looksLikeLogin(name, environment[name] ?? ""));
  if (refused.length > 0) {
    const next = ["Take them out of commands.variables."];
    return { check, state: "warn", text: `${refused.join(", ")}: looks like a login, so no command gets it`, next };
  }
  const named = commandVariables.length === 0 ? "" : `; commands get ${commandVariables.join(", ")}`;
  const shown = commandsShow.length === 0 ? "" : `; they may read ${commandsShow.join(", ")}`;
  return { check, state: "ok", text: text + named + shown };
}

async function hooksFinding(place: ConfigDirectories): Promise<Finding> {
  const check = "hooks";
  const { hooks, problems, warnings } = await new WorkspaceHooks(withLimits(place)).load();
  if (problems.length > 0) {
    const next = ["Correct the file: until then, calls that the hooks would judge are refused."];
    return { check, state: "fail", text: problems.join("; "), next };
  }
  if (warnings.length > 0) return { check, state: "warn", text: warnings.join(" "), next: ["gennai hooks show"] };
  return { check, state: "ok", text: hooks.length === 0 ? "none" : `${hooks.length} run` };
}

async function exportFindings(place: ConfigDirectories): Promise<readonly Finding[]> {
  const check = "export";
  const [limits, { exports }] = await Promise.all([withLimits(place).limits(), loadServerConfig(place.configDir)]);
  const destinations = exportsOf(limits, exports);
  if (destinations.length === 0) return [{ check, state: "ok", text: "no records are sent" }];
  const doubled = doubledExports(limits, exports);
  return destinations.map(({ name, to }): Finding => {
    const { records, since, trouble } = exportBacklog(place.stateDir, name);
    const waiting = records === 0 ? "has all records" : `waits for ${records} records, since ${since ?? "the first"}`;
    const text = `${name} (${to}) ${waiting}${trouble === "" ? "" : `. ${trouble}`}`;
    if (trouble === "" && doubled.includes(name)) {
      const next = ["Give the others a name of their own: records go to this one alone."];
      return { check, state: "warn", text: `${text}. Several exports have this name`, next };
    }
    if (trouble === "") return { check, state: "ok", text };
    return { check, state: "fail", text, next: ["See that it takes records again; none is skipped until then."] };
  });
}

async function peopleFinding({ configDir }: ConfigDirectories): Promise<Finding> {
  const check = "people";
  const known = await loadPeople(configDir);
  const names = Object.keys(known?.people ?? {});
  return {
    check,
    state: "ok",
    text: names.length === 0 ? "nobody is asked elsewhere" : `${names.join(", ")} may answer`,
  };
}

function withLimits(place: ConfigDirectories) {
  const limits = async () => (await loadLimits({ ...place, required: false }, Date.now)).current();
  return { ...place, workspaceRoot: place.workspace, limits };
}

async function mcpFindings(place: ConfigDirectories): Promise<readonly Finding[]> {
  const check = "mcp";
  const { servers, problems } = await new McpAcceptance(withLimits(place)).status();
  const waiting = servers.filter(({ accepted }) => !accepted);
  return [
    { check, state: "ok", text: servers.length === 0 ? "none" : `${servers.length} configured` },
    ...problems.map((text): Finding => ({ check, state: "warn", text, next: ["Correct it in the named file."] })),
    ...waiting.map(({ server }): Finding => {
      const text = `The MCP server ${server.name} was not accepted as it is now, so it does not start.`;
      return { check, state: "warn", text, next: [`gennai mcp accept ${server.name}`] };
    }),
  ];
}

async function modelsFinding({ configDir, environment }: ConfigDirectories): Promise<Finding> {
  const check = "models";
  const { problem } = await readModelsFile(configDir);
  if (problem !== undefined) {
    return { check, state: "warn", text: problem, next: [`Correct ${join(configDir, modelsFile)}.`] };
  }
  const variables = new Set(Object.values(providers).flatMap(({ keyVariables }) => keyVariables));
  const set = [...variables].filter((name) => (environment[name] ?? "").trim() !== "");
  if (set.length > 0) return { check, state: "ok", text: `keys in ${set.join(", ")}` };
  return {
    check,
    state: "ok",
    text: "no key in the environment: offline, local and the editor's models, and the keychain",
  };
}

/** Checks what works on this machine, lowest layer first. Changes nothing and starts no server. */
export function installationChecks(place: ConfigDirectories): readonly Check[] {
  return [...machineChecks(place), ...stateChecks(place), ...configChecks(place)];
}
