// @vitest-environment happy-dom
import { Backend } from "@gennai/protocol/gen/gennai/agent/v1/agent_pb";
import { expect, test, vi } from "vitest";
import { appOn, OneSession, opened } from "./one-session.ts";

const local = { backend: "ollama", model: "qwen3", baseUrl: "http://127.0.0.1:11434/v1" } as const;

/** The app before a server whose default is this backend. */
async function appWithDefault(backend: Backend) {
  const server = new OneSession();
  server.methods.getServerInfo = () => ({ defaultWorkingDir: "/w", defaultSettings: { backend } });
  const app = appOn(server);
  await opened(app.control);
  await vi.waitFor(() => expect(app.control.models.defaultBackend.value).toBeDefined());
  return app;
}

test("where nobody chose a model that is said, until somebody does", async () => {
  const { control, models } = await appWithDefault(Backend.OFFLINE);
  expect(control.lacksModel.value).toBe(true);
  expect(await control.useModel(local)).toBe(true);
  expect(control.lacksModel.value).toBe(false);
  expect(models).toEqual([local]);
  // Who typed the address is not known here: no key of the server's own is meant for it.
  expect(control.choice.value).toMatchObject({ ...local, handedKeyOnly: true });
});

test("another model takes no address along, and going on without is a choice", async () => {
  const { control, models } = await appWithDefault(Backend.OFFLINE);
  await control.useModel(local);
  const without = { backend: "offline", model: "", baseUrl: "" } as const;
  await control.useModel(without);
  expect(control.lacksModel.value).toBe(false);
  expect(control.choice.value).toMatchObject({ backend: "offline" });
  expect(control.choice.value).not.toHaveProperty("baseUrl");
  expect(control.choice.value).not.toHaveProperty("handedKeyOnly");
  expect(control.choice.value).not.toHaveProperty("model");
  expect(models.at(-1)).toEqual(without);
});

test("a server whose operator chose a model lacks none", async () => {
  const { control } = await appWithDefault(Backend.ANTHROPIC);
  expect(control.lacksModel.value).toBe(false);
  expect(control.backend.value).toBe("anthropic");
});

test("the host's wish to choose a model opens the form, in the chat", async () => {
  const { control, notify } = await appWithDefault(Backend.OFFLINE);
  control.panel.value = "timeline";
  notify({ type: "choose-model" });
  expect([control.panel.value, control.models.opened.value]).toEqual(["chat", true]);
});
