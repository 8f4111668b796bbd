import { describe, expect, it } from "vitest";
import { parseLogAddress } from "#nats/log-address";

describe("parseLogAddress", () => {
  it.each([
    ["nats://a", { servers: ["a:4222"], namespace: "gennai", tls: false }],
    ["nats://a:1,b:2,10.0.0.3", { servers: ["a:1", "b:2", "10.0.0.3:4222"], namespace: "gennai", tls: false }],
    ["tls://a.example:4222/team_1", { servers: ["a.example:4222"], namespace: "team_1", tls: true }],
    [
      "nats://me:se%40cret@a",
      { servers: ["a:4222"], namespace: "gennai", tls: false, user: "me", password: "se@cret" },
    ],
  ])("%s", (text, wanted) => {
    expect(parseLogAddress(text)).toEqual(wanted);
  });

  it("takes user and password from the environment", () => {
    expect(parseLogAddress("nats://a", { GENNAI_NATS_USER: "u", GENNAI_NATS_PASSWORD: "p" })).toMatchObject({
      user: "u",
      password: "p",
    });
  });

  it.each([
    ...["", "a:4222", "http://a", "nats://", "nats://a:b", "nats://a/x/y", "nats://a/x.y", "nats://a b"],
    "nats://a,,b",
  ])("refuses %j", (text) => {
    expect(() => parseLogAddress(text)).toThrow("--log takes");
  });
});
