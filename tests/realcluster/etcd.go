package main

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/server/v3/embed"
	"go.etcd.io/etcd/server/v3/etcdserver/api/v3client"
)

// startEtcd runs etcd in this process, on a loopback port of its own choice. Nothing is synced to disk: a test cluster does not
// outlive its machine.
func startEtcd(dir string) (*embed.Etcd, string, error) {
	loopback := []url.URL{{Scheme: "http", Host: "127.0.0.1:0"}}
	config := embed.NewConfig()
	config.Dir = dir
	config.ListenClientUrls, config.AdvertiseClientUrls = loopback, loopback
	config.ListenPeerUrls, config.AdvertisePeerUrls = loopback, loopback
	config.InitialCluster = config.InitialClusterFromName(config.Name)
	config.EnableGRPCGateway = false
	config.LogLevel = "error"
	config.UnsafeNoFsync = true
	config.QuotaBackendBytes = 8 << 30
	config.ExperimentalWarningApplyDuration = 0
	server, err := embed.StartEtcd(config)
	if err != nil {
		return nil, "", fmt.Errorf("etcd: %w", err)
	}
	select {
	case <-server.Server.ReadyNotify():
	case <-time.After(30 * time.Second):
		server.Close()
		return nil, "", errors.New("etcd is not ready after 30 s")
	}
	return server, "http://" + server.Clients[0].Addr().String(), nil
}

// Where kube-apiserver keeps the revision up to which it compacted; it watches this key and drops older snapshots of its own.
const compactRevisionKey = "compact_rev_key"

// compact forgets all revisions before the present one, in the way that kube-apiserver does it every five minutes.
func compact(ctx context.Context, server *embed.Etcd) (int64, error) {
	client := v3client.New(server.Server)
	now, err := client.Get(ctx, compactRevisionKey)
	if err != nil {
		return 0, err
	}
	revision := now.Header.Revision
	if _, err := client.Put(ctx, compactRevisionKey, strconv.FormatInt(revision, 10)); err != nil {
		return 0, err
	}
	if _, err := client.Compact(ctx, revision, clientv3.WithCompactPhysical()); err != nil {
		return 0, err
	}
	return revision, nil
}
