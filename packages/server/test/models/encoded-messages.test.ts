import { withMessages } from "@gennai/server/models/encoded-messages";
import fc from "fast-check";
import { expect, it } from "vitest";

const encode = (values: readonly unknown[]) => values.map((value) => Buffer.from(`,${JSON.stringify(value)}`));

it("puts messages into the request's own list, whatever the other fields hold", () => {
  fc.assert(
    fc.property(fc.array(fc.jsonValue()), fc.string(), fc.jsonValue(), (messages, model, tools) => {
      const request = { model: `${model}"messages":[]`, messages: [], tools };
      const body = Buffer.concat([...withMessages(JSON.stringify(request), encode(messages))]).toString();
      expect(body).toBe(JSON.stringify({ ...request, messages }));
    }),
  );
});

it("refuses a request without a list of messages", () => {
  expect(() => withMessages('{"model":"m"}', [])).toThrow(TypeError);
});
