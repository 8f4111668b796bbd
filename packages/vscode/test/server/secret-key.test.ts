import { describe, expect, it } from "vitest";
import { secretKey } from "../../src/server/secret-key.ts";

const local = { remoteName: undefined, host: "desk" };

describe("secretKey", () => {
  it("is the same for the same server", () => {
    expect(secretKey(local, "http://127.0.0.1:7777/")).toBe(
      secretKey({ remoteName: undefined, host: "DESK" }, "http://127.0.0.1:7777"),
    );
  });

  it.each([
    { name: "a remote window", authority: { remoteName: "ssh-remote", host: "desk" }, url: "http://127.0.0.1:7777" },
    { name: "another host", authority: { remoteName: undefined, host: "box" }, url: "http://127.0.0.1:7777" },
    { name: "another port", authority: local, url: "http://127.0.0.1:7778" },
    { name: "another scheme", authority: local, url: "https://127.0.0.1:7777" },
    {
      name: "a host that looks like a separator",
      authority: { remoteName: 'local","desk', host: "" },
      url: "http://127.0.0.1:7777",
    },
  ])("differs for $name", ({ authority, url }) => {
    expect(secretKey(authority, url)).not.toBe(secretKey(local, "http://127.0.0.1:7777"));
  });
});
