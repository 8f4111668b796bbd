import { create } from "@bufbuild/protobuf";
import { createRedactor } from "@gennai/machine/redaction/redactor";
import { ModelKeys } from "@gennai/models/catalogue/model-keys";
import { Backend, SetModelKeyRequestSchema } from "@gennai/protocol/gen/gennai/agent/v1/agent_pb";
import { describe, expect, it } from "vitest";
import { modelKeyRpc } from "#rpc/methods/model-key-rpc";

const own = { origin: "https://models.example", isKnown: true, takesServersKeys: true, takesGeneralKey: true };

const set = (keys: ModelKeys, backend: Backend, key: string, baseUrl = "") =>
  modelKeyRpc(keys)(create(SetModelKeyRequestSchema, { backend, key, baseUrl }));

describe("a key that a client hands over", () => {
  it("is used, for its provider alone, and masked from then on, also in streams that are open", async () => {
    const redactor = await createRedactor();
    const keys = new ModelKeys({ environment: {}, platform: "win32", onKey: (key) => redactor.learn(key) });
    const key = "plain words that no rule knows".replaceAll(" ", "_");
    const open = redactor.stream();
    set(keys, Backend.ANTHROPIC, key);
    expect(await keys.find("anthropic", own)).toBe(key);
    expect(await keys.find("openai", own)).toBeUndefined();
    expect(await redactor.redact(`the key is ${key}`)).not.toContain(key);
    const streamed = `${await open.push(`it is ${key.slice(0, 10)}`)}${await open.push(`${key.slice(10)} `)}${await open.end()}`;
    expect(streamed).not.toContain(key);
    set(keys, Backend.ANTHROPIC, "");
    expect(await keys.find("anthropic", own)).toBeUndefined();
  });

  it.each([
    [Backend.OFFLINE, "some-key"],
    [Backend.UNSPECIFIED, "some-key"],
    [Backend.OPENAI, "two words"],
    [Backend.OPENAI, "line\nbreak"],
    [Backend.OPENAI, "x".repeat(9_000)],
  ])("is refused for backend %s when it is %j", (backend, key) => {
    const keys = new ModelKeys({ environment: {}, platform: "win32" });
    expect(() => set(keys, backend, key)).toThrow();
  });

  it.each(["no address", "file:///tmp/x", "ftp://models.example", `http://${"x".repeat(3_000)}.example`])(
    "is refused for the address %j",
    (baseUrl) => {
      const keys = new ModelKeys({ environment: {}, platform: "win32" });
      expect(() => set(keys, Backend.OPENAI_COMPATIBLE, "some-key", baseUrl)).toThrow(/base_url/);
    },
  );
});
