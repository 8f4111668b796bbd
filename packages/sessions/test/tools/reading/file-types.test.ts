import { expect, test } from "vitest";
import { globOfType } from "#tools/reading/grep-tool";

test.each([
  ["src/**", "ts", "src/**/*.{ts,tsx,mts,cts}"],
  ["**", "py", "**/*.{py,pyi}"],
  ["**/*", "go", "**/*.go"],
  ["*", "md", "*.{md,mdx,markdown}"],
  ["packages/*/src/*", "go", "packages/*/src/*.go"],
  ["*.ts", "ts", "*.ts"],
  ["src/**/*.test.ts", "ts", "src/**/*.test.ts"],
  ["{a,b}.ts", "ts", "{a,b}.ts"],
  ["*.{ts,tsx}", "ts", "*.{ts,tsx}"],
  ["src/*.{ts,js,tsx}", "ts", "src/*.{ts,tsx}"],
  ["*.{ts,js}", "js", "*.js"],
])("%s of type %s is %s", (glob, type, both) => {
  expect(globOfType(glob, type)).toBe(both);
});

test.each([
  ["*.js", "ts"],
  ["*.{js,jsx}", "ts"],
  ["Makefile", "ts"],
  ["src", "ts"],
  ["src/", "ts"],
  ["!*.ts", "ts"],
  ["!src/*.ts", "ts"],
  ["*.t[sx]", "ts"],
  ["*.ts*", "ts"],
  ["{a.ts,b.js}", "ts"],
  ["", "ts"],
])("%s of type %s is nothing that a glob says", (glob, type) => {
  expect(globOfType(glob, type)).toBeUndefined();
});
