import { scenarios as background } from "../../shell/test/background/background-scenarios.ts";
import { scenarios as layer } from "../../shell/test/layer/layer-scenarios.ts";
import { scenarios as workflows } from "../../shell/test/run/git-workflow-scenarios.ts";
import type { ScenarioFile } from "./as-users.ts";
import { scenarios as commit } from "./commit/commit-scenarios.ts";
import { scenarios as kill } from "./commit/kill-scenarios.ts";
import { scenarios as meanwhile } from "./commit/meanwhile-scenarios.ts";
import { scenarios as giveWay } from "./give-way-scenarios.ts";
import { scenarios as ahead } from "./mount/ahead-scenarios.ts";
import { scenarios as probe } from "./mount/probe-scenarios.ts";
import { scenarios as spare } from "./mount/spare-scenarios.ts";
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
  layer: { ...fileOf("../../shell/test/layer/layer-scenarios.ts", layer), alike: "commands see what" },
};

/** And so it is kept. */
export const committing = {
  commit: fileOf("commit/commit-scenarios.ts", commit),
  meanwhile: fileOf("commit/meanwhile-scenarios.ts", meanwhile),
  workflows: fileOf("../../shell/test/run/git-workflow-scenarios.ts", workflows),
  kill: fileOf("commit/kill-scenarios.ts", kill),
};

/** How a stage comes about, and what runs on it. */
export const mounting = {
  ahead: fileOf("mount/ahead-scenarios.ts", ahead),
  spare: fileOf("mount/spare-scenarios.ts", spare),
  probe: fileOf("mount/probe-scenarios.ts", probe),
  giveWay: fileOf("give-way-scenarios.ts", giveWay),
  background: fileOf("../../shell/test/background/background-scenarios.ts", background),
};

export const beside = fileOf("observe/again-scenarios.ts", again);
