import { describe, expect, it } from "vitest";
import type { KeyDestination } from "#catalogue/key-destination";
import { ModelKeys, type RunProgram } from "#catalogue/model-keys";

/** Where a provider is reached by all. */
const own: KeyDestination = {
  origin: "https://models.example",
  isKnown: true,
  takesServersKeys: true,
  takesGeneralKey: true,
};
/** Where a person says that a server is. */
const typed: KeyDestination = {
  origin: "http://127.0.0.1:8001",
  isKnown: false,
  takesServersKeys: false,
  takesGeneralKey: false,
};

const noKeychain: RunProgram = () => Promise.reject(new Error("not there"));

describe("ModelKeys", () => {
  it.each<[string, Record<string, string>, string | undefined]>([
    ["the general variable", { GENNAI_API_KEY: "g", ANTHROPIC_API_KEY: "a" }, "g"],
    ["the provider's own", { ANTHROPIC_API_KEY: " a\n" }, "a"],
    ["not another provider's", { OPENAI_API_KEY: "o" }, undefined],
    ["nothing that is empty", { GENNAI_API_KEY: " " }, undefined],
  ])("takes %s", async (_name, environment, key) => {
    const keys = new ModelKeys({ environment, platform: "linux", run: noKeychain });
    expect(await keys.find("anthropic", own)).toBe(key);
  });

  it("asks the system's keychain once for a key, and again while there is none", async () => {
    const asked: string[] = [];
    const run: RunProgram = async (program, args) => {
      asked.push([program, ...args].join(" "));
      return { stdout: asked.length === 1 ? "" : "from-the-keychain\n" };
    };
    const keys = new ModelKeys({ environment: {}, platform: "linux", run });
    expect(await keys.find("gemini", own)).toBeUndefined();
    expect(await keys.find("gemini", own)).toBe("from-the-keychain");
    expect(await keys.find("gemini", own)).toBe("from-the-keychain");
    expect(asked).toEqual([
      "secret-tool lookup service gennai account gemini",
      "secret-tool lookup service gennai account gemini",
    ]);
  });

  it("asks no keychain for a provider that needs no key", async () => {
    const run: RunProgram = () => Promise.reject(new Error("must not be asked"));
    expect(await new ModelKeys({ environment: {}, platform: "darwin", run }).find("ollama", own)).toBeUndefined();
  });

  it("prefers what a client handed over, until it is taken back", async () => {
    const keys = new ModelKeys({ environment: { OPENAI_API_KEY: "env" }, platform: "linux", run: noKeychain });
    keys.hand("openai", "", "handed");
    expect(await keys.find("openai", own)).toBe("handed");
    keys.hand("openai", "", "");
    expect(await keys.find("openai", own)).toBe("env");
  });

  it("gives a key that was handed over for one address to no other", async () => {
    const keys = new ModelKeys({ environment: {}, platform: "linux", run: noKeychain });
    keys.hand("openai-compatible", "http://127.0.0.1:8000/v1", "of-8000");
    const at = (origin: string, isKnown = false) =>
      keys.find("openai-compatible", { origin, isKnown, takesServersKeys: true, takesGeneralKey: true });
    expect(await at("http://127.0.0.1:8000")).toBe("of-8000");
    for (const other of ["http://127.0.0.1:8001", "https://127.0.0.1:8000", "http://127.0.0.1.evil.example:8000"])
      expect(await at(other, true)).toBeUndefined();
    keys.hand("openai-compatible", "http://127.0.0.1:8001/v1", "of-8001");
    keys.hand("openai-compatible", "http://127.0.0.1:8000/other", "");
    expect([await at("http://127.0.0.1:8000"), await at("http://127.0.0.1:8001")]).toEqual([undefined, "of-8001"]);
  });

  it("gives a key without an address to known places alone, and forgets all of a provider at once", async () => {
    const keys = new ModelKeys({ environment: {}, platform: "linux", run: noKeychain });
    keys.hand("ollama", "", "of-before");
    keys.hand("ollama", "http://127.0.0.1:8001", "typed");
    expect([await keys.find("ollama", own), await keys.find("ollama", typed)]).toEqual(["of-before", "typed"]);
    keys.hand("ollama", "", "");
    expect([await keys.find("ollama", own), await keys.find("ollama", typed)]).toEqual([undefined, undefined]);
    keys.hand("ollama", "", "of-before");
    expect(await keys.find("ollama", { ...typed, takesServersKeys: true, takesGeneralKey: true })).toBeUndefined();
  });

  it("gives a key that names no provider to no place that is not its own", async () => {
    const environment = { GENNAI_API_KEY: "g" };
    const keys = new ModelKeys({ environment, platform: "linux", run: noKeychain });
    expect(await keys.find("anthropic", { ...own, takesGeneralKey: false })).toBeUndefined();
    expect(await keys.has("anthropic", { ...own, takesGeneralKey: false })).toBe(false);
    expect(await keys.has("anthropic", own)).toBe(true);
  });

  it.each([
    ["linux", "secret-tool search service gennai account gemini"],
    ["darwin", "security find-generic-password -s gennai -a gemini"],
  ] as const)("says on %s whether the keychain has a key without asking for it", async (platform, wanted) => {
    const asked: string[] = [];
    let found = "";
    const run: RunProgram = async (program, args) => {
      asked.push([program, ...args].join(" "));
      return { stdout: found };
    };
    const keys = new ModelKeys({ environment: {}, platform, run });
    expect(await keys.has("gemini", own)).toBe(false);
    found = "[/1]\nlabel = Gennai\n";
    expect(await keys.has("gemini", own)).toBe(true);
    expect(asked).toEqual([wanted, wanted]);
  });

  it("gives keys of the environment and the keychain to no address that takes none", async () => {
    const run: RunProgram = () => Promise.reject(new Error("must not be asked"));
    const environment = { GENNAI_API_KEY: "g", OPENAI_API_KEY: "o" };
    expect(await new ModelKeys({ environment, platform: "linux", run }).find("openai", typed)).toBeUndefined();
    expect(await new ModelKeys({ environment: {}, platform: "linux", run }).find("openai", typed)).toBeUndefined();
  });
});
