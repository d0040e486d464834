// Goal: the NATS server under test has JetStream, and its key-value store refuses what the
//       idempotency store relies on: a second create of a key, and an update of an old revision.
// Method: usage: nats_smoke URL. Prints the first thing that was not as expected and exits 1.
#include <nats/nats.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

static bool expect(bool holds, const char* what) {
  if (!holds) fprintf(stderr, "nats_smoke: %s: %s\n", what, nats_GetLastError(NULL));
  return holds;
}

static bool try_revisions(kvStore* bucket) {
  uint64_t first = 0;
  uint64_t second = 0;
  kvEntry* entry = NULL;
  if (!expect(kvStore_CreateString(&first, bucket, "key", "one") == NATS_OK, "create"))
    return false;
  if (!expect(kvStore_CreateString(NULL, bucket, "key", "two") != NATS_OK,
              "a second create was accepted"))
    return false;
  if (!expect(kvStore_UpdateString(&second, bucket, "key", "three", first) == NATS_OK, "update"))
    return false;
  if (!expect(kvStore_UpdateString(NULL, bucket, "key", "four", first) != NATS_OK,
              "an update of a stale revision was accepted"))
    return false;
  if (!expect(kvStore_Get(&entry, bucket, "key") == NATS_OK, "get")) return false;
  bool same = strcmp(kvEntry_ValueString(entry), "three") == 0 && kvEntry_Revision(entry) == second;
  kvEntry_Destroy(entry);
  return expect(same, "get gave another value or revision than the accepted update");
}

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  natsConnection* connection = NULL;
  jsCtx* stream = NULL;
  kvStore* bucket = NULL;
  kvConfig config;
  kvConfig_Init(&config);
  config.Bucket = "pawl_smoke";
  config.StorageType = js_MemoryStorage;

  bool good = expect(natsConnection_ConnectTo(&connection, argv[1]) == NATS_OK, "connect") &&
              expect(natsConnection_JetStream(&stream, connection, NULL) == NATS_OK, "JetStream") &&
              expect(js_CreateKeyValue(&bucket, stream, &config) == NATS_OK, "create a bucket") &&
              try_revisions(bucket);
  if (bucket != NULL)
    good = expect(js_DeleteKeyValue(stream, config.Bucket) == NATS_OK, "delete the bucket") && good;

  kvStore_Destroy(bucket);
  jsCtx_Destroy(stream);
  natsConnection_Destroy(connection);
  nats_Close();
  return good ? 0 : 1;
}
