import { expect, test } from "vitest";
import { parseMetricsAddress } from "#telemetry/export/telemetry-settings";

test.each([
  ["9464", { host: "127.0.0.1", port: 9464 }],
  ["0.0.0.0:9464", { host: "0.0.0.0", port: 9464 }],
  ["[::1]:0", { host: "::1", port: 0 }],
  ["localhost:1", { host: "localhost", port: 1 }],
])("%s is an address", (text, wanted) => {
  expect(parseMetricsAddress(text)).toEqual({ type: "tcp", ...wanted });
});

test.each(["", "host", ":9464", "1.2.3.4", "70000", "[zz]:1", "a b:1", "http://a:1", "::1:9464"])(
  "%j is none",
  (text) => {
    expect(() => parseMetricsAddress(text)).toThrow("is not an address");
  },
);
