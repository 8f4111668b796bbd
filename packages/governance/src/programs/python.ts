import type { Program } from "./program.ts";
import { adds, asks, begins, gets, names, publishes, takes } from "./shared-rows.ts";

const hosts = "pypi.org files.pythonhosted.org";
const manifests = "pyproject.toml";
const deploys = { anyOperand: /^(?:publish|unpublish|push|upload|release)$/ };

/** It runs a `setup.py`: no answer for its connections lasts. Versions have names of their own: `pip3.12`. */
const pip: Program = {
  names: "pip pip3",
  tellsVersion: true,
  hosts,
  logins: ["pip"],
  verbs: { "install download wheel": asks, "index search": gets, "uninstall show": names },
};

/** Each writes its dependencies into a manifest. */
const ofProject: Program["verbs"] = {
  add: adds,
  remove: takes,
  "init version": begins,
  "install i update upgrade sync lock": gets,
  "search show run": names,
  publish: publishes,
};
const apart: Program["verbs"] = { "install upgrade update inject run": gets, "uninstall remove": names };

export const ofPython: readonly Program[] = [
  pip,
  { names: "python python3", tellsVersion: true, starts: true, module: "-m" },
  { names: "pipx pipenv", hosts, starts: true, verbs: apart },
  { names: "uv", hosts, manifests, starts: true, deploys, verbs: { ...ofProject, "pip tool": { reaches: true } } },
  { names: "uvx", otherwise: { reaches: true }, starts: true },
  { names: "poetry", hosts, manifests, starts: true, deploys, verbs: ofProject },
  { names: "pdm hatch", hosts, manifests, starts: true, tasks: true, deploys, verbs: ofProject },
  { names: "rye", hosts, manifests, starts: true, deploys, verbs: ofProject },
  {
    names: "conda mamba",
    hosts: "conda.anaconda.org repo.anaconda.com",
    starts: true,
    deploys,
    verbs: { "install update upgrade search create": gets, "remove uninstall run": names },
  },
  {
    names: "pixi",
    hosts: "conda.anaconda.org prefix.dev",
    manifests: "pixi.toml pyproject.toml",
    starts: true,
    tasks: true,
    deploys,
    verbs: { ...ofProject, "remove rm": takes, "global exec": gets, "shell-hook list ls info": names },
  },
  { names: "flit maturin", deploys },
  { names: "twine", deploys: { verb: /^(?:upload|register)$/ } },
  { names: "python2 py", starts: true },
  { names: "tox", tasks: true, obeys: "tox.ini pyproject.toml" },
  { names: "invoke inv fab nox poe", tasks: true },
];
