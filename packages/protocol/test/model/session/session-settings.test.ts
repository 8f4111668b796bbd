import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { describe, expect, test } from "vitest";
import { Backend, EditingMode, Effort, SettingsSchema, Verbosity } from "#gen/gennai/agent/v1/agent_pb";
import { InvalidField } from "#model/checked-field";
import {
  changedSettings,
  type SessionSettings,
  settingDefaults,
  settingsFromLog,
  settingsFromMessage,
  settingsToMessage,
} from "#model/session/session-settings";

const chosen = {
  backend: "openai-compatible",
  model: "qwen3",
  baseUrl: "http://127.0.0.1:8000/v1",
  maxTokens: 100,
  maxIterations: 7,
  editingMode: "proposal",
  verbosity: "terse",
  effort: "xhigh",
  maxContextTokens: 32_768,
  maxSessionTokens: 5_000_000_000,
  maxTurnTokens: 6_000_000_000,
  maxCost: 2.5,
  questionSeconds: 90,
  handedKeyOnly: true,
} as const;

function overTheWire(settings: Parameters<typeof settingsToMessage>[0]) {
  return fromBinary(SettingsSchema, toBinary(SettingsSchema, create(SettingsSchema, settingsToMessage(settings))));
}

describe("settings over the wire", () => {
  test("the numbers are those of the protocol", () => {
    expect(overTheWire({ ...chosen, workingDir: "/w" })).toMatchObject({
      ...chosen,
      backend: Backend.OPENAI_COMPATIBLE,
      effort: Effort.XHIGH,
      editingMode: EditingMode.PROPOSAL,
      verbosity: Verbosity.TERSE,
      maxSessionTokens: 5_000_000_000n,
      maxTurnTokens: 6_000_000_000n,
      workingDir: "/w",
    });
  });

  test("what is chosen is what comes into force, and what is reported of it what was chosen", () => {
    const inForce = changedSettings(settingDefaults, overTheWire(chosen));
    expect(inForce).toEqual({ ...chosen, interactive: true });
    expect(settingsFromMessage(overTheWire({ ...inForce, workingDir: "/w" }))).toEqual({ ...chosen, workingDir: "/w" });
  });

  test("what is said of an address holds for this address", () => {
    const current: SessionSettings = { ...chosen, interactive: true };
    const other = "http://127.0.0.1:9000/v1";
    expect(changedSettings(current, overTheWire({ baseUrl: other })).handedKeyOnly).toBe(false);
    expect(changedSettings(current, overTheWire({ backend: "openai" })).handedKeyOnly).toBe(false);
    expect(changedSettings(current, overTheWire({ model: "other" })).handedKeyOnly).toBe(true);
    expect(changedSettings(current, overTheWire({ baseUrl: other, handedKeyOnly: true })).handedKeyOnly).toBe(true);
  });

  test("what is left out stays", () => {
    const current: SessionSettings = { ...chosen, interactive: false };
    expect(changedSettings(current, overTheWire({}))).toEqual(current);
    expect(changedSettings(current, undefined)).toEqual(current);
    expect(changedSettings(current, overTheWire({ maxTokens: 50 }))).toEqual({ ...current, maxTokens: 50 });
  });

  test("a limit of 0 takes the limit away", () => {
    const current: SessionSettings = { ...chosen, interactive: true };
    const limits = { maxContextTokens: 0, maxSessionTokens: 0, maxTurnTokens: 0, maxCost: 0, questionSeconds: 0 };
    expect(changedSettings(current, overTheWire(limits))).toEqual({ ...current, ...limits });
  });

  test("another backend inherits neither model nor address; the same one does", () => {
    const current: SessionSettings = { ...chosen, interactive: true };
    const other = changedSettings(current, overTheWire({ backend: "openai" }));
    expect(other).toEqual({ ...current, backend: "openai", model: "", baseUrl: "", handedKeyOnly: false });
    expect(changedSettings(current, overTheWire({ backend: "openai-compatible" }))).toEqual(current);
    expect(changedSettings(current, overTheWire({ backend: "openai", model: "gpt" })).model).toBe("gpt");
  });

  test.each([
    [{ backend: 99 as Backend }, "The setting backend has no meaning: 99."],
    [{ editingMode: -1 as EditingMode }, "The setting editing mode has no meaning: -1."],
    [{ verbosity: 4 as Verbosity }, "The setting verbosity has no meaning: 4."],
    [{ maxTokens: -1 }, "The setting max tokens must be between 0 and 2147483647."],
    [{ maxIterations: 1001 }, "The setting max iterations must be between 0 and 1000."],
    [{ baseUrl: "file:///etc/passwd" }, "The setting base URL must be an http or https URL."],
    [{ baseUrl: "localhost:7795" }, "The setting base URL must be an http or https URL, e.g. http://localhost:7795."],
    [
      { baseUrl: "http://a:b@localhost" },
      "The setting base URL must not hold credentials; keys come from the environment.",
    ],
    [{ maxContextTokens: -1 }, "The setting max context tokens cannot be negative or beyond 2^53."],
    [{ maxSessionTokens: 2n ** 60n }, "The setting max session tokens cannot be negative or beyond 2^53."],
    [{ maxTurnTokens: -1n }, "The setting max turn tokens cannot be negative or beyond 2^53."],
    [{ questionSeconds: -1 }, "The setting question seconds cannot be negative or beyond 2^53."],
    [{ maxCost: Number.NaN }, "The setting max cost cannot be negative or beyond 2^53."],
    [{ maxCost: Number.POSITIVE_INFINITY }, "The setting max cost cannot be negative or beyond 2^53."],
  ])("%o is refused", (fields, message) => {
    expect(() => changedSettings(settingDefaults, create(SettingsSchema, fields))).toThrow(new InvalidField(message));
  });

  test("a client reads what it does not know as the default, and a backend as none", () => {
    const message = create(SettingsSchema, {
      backend: 99 as Backend,
      editingMode: 99 as EditingMode,
      verbosity: 99 as Verbosity,
    });
    const { interactive: _, ...defaults } = settingDefaults;
    expect(settingsFromMessage(message)).toEqual({ ...defaults, backend: undefined, workingDir: "" });
  });
});

test("a log of before some settings were there, with the limits in an object of their own, keeps all it says", () => {
  const {
    maxCost,
    maxTurnTokens: _,
    maxSessionTokens: __,
    maxContextTokens: ___,
    questionSeconds: ____,
    ...older
  } = chosen;
  expect(settingsFromLog({ ...older, interactive: false, limits: { maxCost } })).toEqual({
    ...settingDefaults,
    ...older,
    maxCost,
    interactive: false,
  });
});
