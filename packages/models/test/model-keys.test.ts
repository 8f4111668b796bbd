import { describe, expect, it } from "vitest";
import { ModelKeys, type RunProgram } from "#model-keys";

const noKeychain: RunProgram = () => Promise.reject(new Error("not there"));

describe("ModelKeys", () => {
  it.each<[string, Record<string, string>, string | undefined]>([
    ["the general variable", { GENNAI_API_KEY: "g", ANTHROPIC_API_KEY: "a" }, "g"],
    ["the provider's own", { ANTHROPIC_API_KEY: " a\n" }, "a"],
    ["not another provider's", { OPENAI_API_KEY: "o" }, undefined],
    ["nothing that is empty", { GENNAI_API_KEY: " " }, undefined],
  ])("takes %s", async (_name, environment, key) => {
    const keys = new ModelKeys({ environment, platform: "linux", run: noKeychain });
    expect(await keys.find("anthropic")).toBe(key);
  });

  it("asks the system's keychain once for a key, and again while there is none", async () => {
    const asked: string[] = [];
    const run: RunProgram = async (program, args) => {
      asked.push([program, ...args].join(" "));
      return { stdout: asked.length === 1 ? "" : "from-the-keychain\n" };
    };
    const keys = new ModelKeys({ environment: {}, platform: "linux", run });
    expect(await keys.find("gemini")).toBeUndefined();
    expect(await keys.find("gemini")).toBe("from-the-keychain");
    expect(await keys.find("gemini")).toBe("from-the-keychain");
    expect(asked).toEqual([
      "secret-tool lookup service gennai account gemini",
      "secret-tool lookup service gennai account gemini",
    ]);
  });

  it("asks no keychain for a provider that needs no key", async () => {
    const run: RunProgram = () => Promise.reject(new Error("must not be asked"));
    expect(await new ModelKeys({ environment: {}, platform: "darwin", run }).find("ollama")).toBeUndefined();
  });

  it("prefers what a client handed over, until it is taken back", async () => {
    const keys = new ModelKeys({ environment: { OPENAI_API_KEY: "env" }, platform: "linux", run: noKeychain });
    keys.hand("openai", "handed");
    expect(await keys.find("openai")).toBe("handed");
    keys.hand("openai", "");
    expect(await keys.find("openai")).toBe("env");
  });
});
