// @vitest-environment happy-dom
import { expect, test } from "vitest";
import { appOn, OneSession, opened } from "./one-session.ts";

const first = {
  showThinking: false,
  backend: "",
  model: "",
  modelUrl: "",
  editingMode: "branch",
  scenario: "",
  questionSeconds: 600,
} as const;

test("what was chosen in the app stays when the host's settings change in something else", async () => {
  const { control, notify } = appOn(new OneSession(), { settings: first });
  await opened(control);
  control.showThinking.value = true;
  control.scenario.value = "RESPOND";
  await control.changeSettings({ editingMode: "proposal", effort: "high" });
  notify({ type: "settings", settings: { ...first, backend: "ollama", model: "m", questionSeconds: 20 } });
  expect([control.showThinking.value, control.scenario.value]).toEqual([true, "RESPOND"]);
  const choice = { backend: "ollama", model: "m", questionSeconds: 20 };
  expect(control.choice.value).toMatchObject({ ...choice, editingMode: "proposal", effort: "high" });
});

test("a setting that is changed itself is used, and a model that is no longer set is gone", async () => {
  const { control, notify } = appOn(new OneSession(), { settings: { ...first, backend: "ollama", model: "m" } });
  await opened(control);
  expect(control.choice.value).toMatchObject({ model: "m", questionSeconds: 600 });
  const changed = { ...first, showThinking: true, scenario: "CODE", editingMode: "proposal" } as const;
  notify({ type: "settings", settings: changed });
  expect([control.showThinking.value, control.scenario.value]).toEqual([true, "CODE"]);
  expect(control.choice.value).toEqual({ workingDir: "/w", editingMode: "proposal", questionSeconds: 600 });
});
