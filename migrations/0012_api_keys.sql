CREATE TABLE "offhook"."api_keys" (
	"tenant_id" text NOT NULL,
	"id" text PRIMARY KEY NOT NULL,
	"name" text NOT NULL,
	"scopes" text[] NOT NULL,
	"hash" text NOT NULL,
	"created_at_ms" bigint NOT NULL,
	CONSTRAINT "api_keys_hash_unique" UNIQUE("hash")
);
--> statement-breakpoint
ALTER TABLE "offhook"."api_keys" ENABLE ROW LEVEL SECURITY;--> statement-breakpoint
CREATE POLICY "of_tenant" ON "offhook"."api_keys" AS PERMISSIVE FOR ALL TO public USING (tenant_id = current_setting('app.tenant', true)) WITH CHECK (tenant_id = current_setting('app.tenant', true));