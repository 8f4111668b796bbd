import type { ScenarioFile } from "./as-users.ts";
import { scenarios as commit } from "./commit/commit-scenarios.ts";
import { scenarios as kill } from "./commit/kill-scenarios.ts";
import { scenarios as meanwhile } from "./commit/meanwhile-scenarios.ts";
import { scenarios as layer } from "./layer/layer-scenarios.ts";
import { scenarios as again } from "./observe/again-scenarios.ts";
import { scenarios as git } from "./observe/git-scenarios.ts";
import { scenarios as observe } from "./observe/observe-scenarios.ts";

const fileOf = (path: string, scenarios: ScenarioFile["scenarios"]): ScenarioFile => {
  return { file: new URL(path, import.meta.url).href, scenarios };
};

/** What commands do is found the same way whatever they see the workspace by. */
export const observing = {
  observe: fileOf("observe/observe-scenarios.ts", observe),
  git: fileOf("observe/git-scenarios.ts", git),
  layer: fileOf("layer/layer-scenarios.ts", layer),
};

/** And so it is kept. */
export const committing = {
  commit: fileOf("commit/commit-scenarios.ts", commit),
  meanwhile: fileOf("commit/meanwhile-scenarios.ts", meanwhile),
  kill: fileOf("commit/kill-scenarios.ts", kill),
};

export const beside = fileOf("observe/again-scenarios.ts", again);
