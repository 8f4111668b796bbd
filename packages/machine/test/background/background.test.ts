import { testAsUsers } from "../stage/as-users.ts";
import { scenarios } from "./background-scenarios.ts";

testAsUsers({ file: new URL("background-scenarios.ts", import.meta.url).href, scenarios });
