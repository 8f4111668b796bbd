import { expect, test } from "vitest";
import { secretValues } from "#secrets/history-secrets";

test.each<[string, readonly string[]]>([
  ["TOKEN=correct-horse\nexport DB_PASSWORD='battery staple'\n", ["correct-horse", "battery staple"]],
  ["# TOKEN=commented-out\n// no\n\nDEBUG=true\nNODE_ENV=development\nHOST=localhost:8080\n", []],
  ["DATABASE_URL=postgres://me:hunter2hunter2@db.example.com/x\n", ["hunter2hunter2"]],
  ["//registry.example.com/:_authToken=abcdefgh\n", ["abcdefgh"]],
  ['{\n  "client_secret": "s3cr3tvalue",\n  "client_id": "me@example.com"\n}', ["s3cr3tvalue"]],
  ["password: short12\napi_key: longer-than-that # mine\n", ["longer-than-that"]],
  ["PORT_NAME=abc12345xyz\nAUTHOR=Somebody\nTOKEN=$OTHER_TOKEN\n", ["abc12345xyz"]],
  ["-----BEGIN KEY-----\nMIIEvQIBADANBgkqhkiG9w0\n-----END KEY-----\n", ["MIIEvQIBADANBgkqhkiG9w0"]],
])("%j", (text, wanted) => {
  expect(secretValues(text)).toEqual(wanted);
});
