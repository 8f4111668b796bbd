/**
 * The source of a module that starts another one through V8's compile cache, which it keeps beside itself.
 * @param {string} module as it is imported from there
 */
export function startedThroughCache(module) {
  return `import { enableCompileCache } from "node:module";
enableCompileCache(${"`${import.meta.dirname}/.compile-cache`"});
await import("${module}");
`;
}
