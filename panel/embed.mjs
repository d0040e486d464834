// The assets as C++: literals, since these compile faster than lists of numbers.

function literal(bytes) {
  const lines = [];
  for (let at = 0; at < bytes.length; at += 64) {
    let line = "";
    // Three octal digits: what follows cannot become a part of it.
    for (const byte of bytes.subarray(at, at + 64))
      line += "\\" + byte.toString(8).padStart(3, "0");
    lines.push(`    "${line}"`);
  }
  return lines.length === 0 ? '    ""' : lines.join("\n");
}

function view(name, bytes) {
  return `constexpr char ${name}[] =\n${literal(bytes)};\n`;
}

/** The definition of pawl::admin::panel_assets(). */
export function sourceOf(assets) {
  const parts = ['#include "admin/panel_assets.h"\n', "namespace pawl::admin {", "namespace {\n"];
  assets.forEach((asset, i) => {
    for (const kind of ["plain", "gzip", "brotli"]) parts.push(view(`${kind}_${i}`, asset[kind]));
  });
  parts.push("constexpr PanelAsset assets[] = {");
  assets.forEach((asset, i) => {
    const bytes = (kind) => `{${kind}_${i}, sizeof(${kind}_${i}) - 1}`;
    parts.push(
      `    {"${asset.name}", "${asset.type}", "${asset.tag}", ` +
        `${bytes("plain")}, ${bytes("gzip")}, ${bytes("brotli")}},`,
    );
  });
  parts.push("};\n", "}  // namespace\n");
  parts.push("std::span<const PanelAsset> panel_assets() {\n  return assets;\n}\n");
  parts.push("}  // namespace pawl::admin\n");
  return parts.join("\n");
}
