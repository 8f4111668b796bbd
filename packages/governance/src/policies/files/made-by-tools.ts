/**
 * Whether a path is in a directory that builds, tests and caches fill, or has the name of such a file; programs of packages do
 * not count.
 */
export function isMadeByTools(path: string): boolean {
  return madeByTools.test(path);
}

const madeByTools =
  /(?:^|\/)(?:dist|build|out|target|coverage|obj|_build|htmlcov|test-results|playwright-report|\.next|\.nuxt|\.output|\.svelte-kit|\.cache|\.turbo|\.parcel-cache|\.gradle|\.pytest_cache|\.mypy_cache|\.ruff_cache|\.tox|\.nyc_output|\.vitest|__pycache__|cmake-build-[^/]*|bazel-[^/]*|[^/]+\.egg-info)\/|(?:\.tsbuildinfo|\.eslintcache|\.stylelintcache|\.py[co]|\.log|\.o|\.coverage|\/install-state\.gz)$/i;
