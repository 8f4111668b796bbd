import { expect, it } from "vitest";
import type { AllowedEndpoint } from "#connection";
import type { Effect } from "#effect";
import { parseEndpoint } from "#endpoint";
import { computeRisk } from "#policies/risk";
import { exec, inside, write } from "./effects.ts";

it.each<[readonly Effect[], string]>([
  [[], "low"],
  [[{ type: "read", path: inside("a") }, { type: "session" }], "low"],
  [[{ type: "propose", path: inside("a"), operation: "delete" }], "low"],
  [[write(inside("a"))], "medium"],
  [[write(inside("a"), { operation: "delete" })], "medium"],
  [[write(inside(".github/workflows/ci.yml"))], "high"],
  [[exec("git status")], "low"],
  [[exec("npm test")], "medium"],
  [[write(inside("a")), exec("sudo ls")], "high"],
  [[{ type: "net", url: "https://example.com" }], "high"],
])("seed 003 §4: the highest category of a call counts: %o: %s", (effects, expected) => {
  expect(computeRisk({ statement: "", effects })).toBe(expected);
});

it.each([
  ...["169.254.169.254:80", "[::ffff:169.254.169.254]:80", "[::ffff:a9fe:a9fe]:80", "[64:ff9b::a9fe:a9fe]:80"],
  ...["[fd00:ec2::254]:80", "[fd00:0ec2:0::254]:80", "[FE80::1]:80", "[febf::1]:80", "100.100.100.200:80"],
  ...[
    "168.63.129.16:80",
    "192.0.0.192:80",
    "metadata.google.internal:80",
    "Metadata.:80",
    "instance-data.ec2.internal:80",
  ],
])("where clouds hand out keys, under every spelling: %s", (text) => {
  const endpoint = parseEndpoint(text);
  if (endpoint === undefined) throw new Error("It is no endpoint.");
  const reach = (wanted: AllowedEndpoint) =>
    computeRisk({ statement: "", effects: [{ type: "net", url: text, wanted: { ...wanted, program: "curl" } }] });
  expect(reach(endpoint)).toBe("high");
  expect(reach({ host: "name.example", port: 80, address: endpoint.host })).toBe("high");
  expect(reach({ host: "name.example", port: 80, address: "10.0.0.1" })).toBe("medium");
});
