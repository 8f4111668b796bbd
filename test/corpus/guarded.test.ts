import { testGuarded } from "./guarded-tests.ts";

testGuarded(Number(process.env["GENNAI_CORPUS_SHARE"] || 32));
