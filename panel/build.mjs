// Makes the panel: type-checks, bundles, compresses, and writes what the binary embeds.
//
//   node build.mjs OUT        OUT/panel_assets.cc, and the files themselves in OUT/panel/
//
// It runs beside the packages: in a folder that has node_modules, and this tree's files as links.

import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createHash } from "node:crypto";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import { join } from "node:path";

import { build } from "esbuild";

import { sourceOf } from "./embed.mjs";

const bytesMost = 150 * 1024; // of all assets, compressed
const out = process.argv[2];

const types = {
  "index.html": "text/html; charset=utf-8",
  "app.js": "text/javascript; charset=utf-8",
  "app.css": "text/css; charset=utf-8",
  "icon.svg": "image/svg+xml",
};

function check() {
  const ran = spawnSync(
    process.execPath,
    ["node_modules/typescript/bin/tsc", "-p", "tsconfig.json"],
    {
      stdio: "inherit",
    },
  );
  if (ran.status !== 0) throw new Error("the panel does not pass its type check");
}

// Those whose work is in the bundle ask for their notices in every copy.
function notices() {
  const { dependencies } = JSON.parse(readFileSync("package.json"));
  const texts = Object.keys(dependencies).map(
    (name) => `${name}\n\n${readFileSync(`node_modules/${name}/LICENSE`, "utf8").trim()}`,
  );
  return `/*!\n${texts.join("\n\n")}\n*/`;
}

async function bundle() {
  const made = await build({
    entryPoints: { app: "src/main.tsx" },
    bundle: true,
    minify: true,
    format: "esm",
    target: ["es2022"],
    jsx: "automatic",
    jsxImportSource: "preact",
    preserveSymlinks: true,
    legalComments: "none",
    banner: { js: notices() },
    outdir: "nowhere",
    write: false,
    logLevel: "warning",
  });
  const named = (end) =>
    Buffer.from(made.outputFiles.find((file) => file.path.endsWith(end)).contents);
  return { "app.js": named(".js"), "app.css": named(".css") };
}

function compressed(content) {
  const brotli = brotliCompressSync(content, {
    params: {
      [constants.BROTLI_PARAM_QUALITY]: 11,
      [constants.BROTLI_PARAM_SIZE_HINT]: content.length,
    },
  });
  return { plain: content, gzip: gzipSync(content, { level: 9 }), brotli };
}

if (out === undefined) throw new Error("usage: node build.mjs OUT");
check();
const contents = {
  "index.html": readFileSync("index.html"),
  "icon.svg": readFileSync("icon.svg"),
  ...(await bundle()),
};
mkdirSync(join(out, "panel"), { recursive: true });
const assets = Object.entries(contents).map(([name, content]) => {
  writeFileSync(join(out, "panel", name), content);
  const tag = createHash("sha256").update(content).digest("hex").slice(0, 32);
  return { name, type: types[name], tag, ...compressed(content) };
});
const bytes = assets.reduce((sum, asset) => sum + asset.gzip.length, 0);
if (bytes > bytesMost)
  throw new Error(`the panel has ${bytes} bytes compressed, ${bytesMost} at most`);
writeFileSync(join(out, "panel_assets.cc"), sourceOf(assets));
console.log(`panel: ${(bytes / 1024).toFixed(1)} KiB compressed`);
