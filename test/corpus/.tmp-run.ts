import { readFileSync } from "node:fs";
import { commandFixture, workspacePlaces } from "/work/main/test/corpus/command-fixture.ts";
const attacks = JSON.parse(readFileSync("/work/shared/corpus/attacks.json","utf8")).filter((c:any)=>c.group.startsWith("shell."));
const benign = JSON.parse(readFileSync("/work/shared/corpus/benign.json","utf8")).map((c:any)=>({group:"benign."+c.category,id:c.id,input:c.command,required:c.expect}));
const ok=(r:string,v:string)=> r==="DENY"?v==="deny":r==="NEVER_ALLOW"?v!=="allow":r==="ASK"?v==="ask":r==="ALLOW"?v==="allow":r==="NOT_DENY"?v!=="deny":false;
let ref=new Map<string,string>();
for (const intent of [undefined,"INT-001"]) for (const place of workspacePlaces) {
  const f=await commandFixture(place,intent?{intent}:{});
  const t=Date.now(); let wrong=0,disagree=0;
  for (const c of [...attacks,...benign]) {
    const r=await f.decide(c.input);
    if(!ok(c.required,r.verdict)){wrong++;console.log(place,intent??"-",c.id,c.required,"got",r.verdict,r.rule,"|",JSON.stringify(c.input),"|",r.reason.slice(0,150));}
    else if (intent===undefined){ if(place==="apart")ref.set(c.id,r.verdict); else if(ref.get(c.id)!==r.verdict){disagree++;console.log("DISAGREE",place,c.id,ref.get(c.id),r.verdict,r.rule,JSON.stringify(c.input))}}
  }
  console.log("==",place,intent,"wrong",wrong,"disagree",disagree,"of",attacks.length+benign.length,Date.now()-t,"ms");
  await f[Symbol.asyncDispose]();
}
