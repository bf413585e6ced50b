package main

import (
	"fmt"
	"path/filepath"
	"strings"
)

// The controllers of a cluster that runs CronJobs; what belongs to machines, volumes and networks is left out.
var controllerNames = []string{
	"cronjob-controller", "job-controller", "ttl-after-finished-controller", "garbage-collector-controller",
	"namespace-controller", "serviceaccount-controller", "resourcequota-controller",
	// It looks up pods by an index that the controller of DaemonSets makes.
	"taint-eviction-controller", "daemonset-controller",
}

func (c *cluster) file(name string) string { return filepath.Join(c.dir, name) }

func (c *cluster) apiServerArguments() []string {
	arguments := []string{
		"--etcd-servers=" + c.etcdURL,
		"--bind-address=" + c.address,
		"--advertise-address=" + c.address,
		"--external-hostname=localhost",
		fmt.Sprintf("--secure-port=%d", c.port),
		"--service-cluster-ip-range=" + c.services,
		"--tls-cert-file=" + c.file("apiserver.crt"),
		"--tls-private-key-file=" + c.file("apiserver.key"),
		"--token-auth-file=" + c.file("tokens.csv"),
		"--service-account-issuer=https://kubernetes.default.svc",
		"--service-account-key-file=" + c.file("service-account.key"),
		"--service-account-signing-key-file=" + c.file("service-account.key"),
		"--kubelet-preferred-address-types=InternalIP",
		"--max-requests-inflight=1600",
		"--max-mutating-requests-inflight=800",
		"--shutdown-watch-termination-grace-period=1s", // else a graceful end waits a minute for open watches
		"--profiling=false",
	}
	if !c.machines {
		return append(arguments, "--authorization-mode=RBAC", "--endpoint-reconciler-type=none")
	}
	return append(
		arguments, "--authorization-mode=Node,RBAC", "--enable-admission-plugins=NodeRestriction",
		// A pod leaves a lost machine after seconds, in place of five minutes.
		"--default-not-ready-toleration-seconds=10", "--default-unreachable-toleration-seconds=10",
	)
}

func (c *cluster) controllerArguments() []string {
	arguments := []string{
		"--kubeconfig=" + c.file("controllers.kubeconfig"),
		"--bind-address=127.0.0.1",
		fmt.Sprintf("--secure-port=%d", c.controllersPort),
		"--authorization-always-allow-paths=/healthz",
		"--kube-api-qps=2000",
		"--kube-api-burst=4000",
		"--concurrent-cron-job-syncs=20",
		"--concurrent-job-syncs=20",
		"--concurrent-ttl-after-finished-syncs=10",
		"--concurrent-gc-syncs=20",
		"--concurrent-namespace-syncs=20",
		"--controller-start-interval=0s",
		"--profiling=false",
	}
	if !c.machines {
		return append(arguments, "--controllers="+strings.Join(controllerNames, ","), "--leader-elect=false")
	}
	return append(
		arguments, "--root-ca-file="+c.file("ca.crt"), "--flex-volume-plugin-dir="+c.file("volume-plugins"),
		"--service-account-private-key-file="+c.file("service-account.key"), "--node-monitor-grace-period=20s",
		// It ends when it loses its Lease, so it keeps it longer than a test keeps the API server away.
		"--leader-elect-lease-duration=90s", "--leader-elect-renew-deadline=80s",
	)
}

func kubeconfigText(url, caFile, token string) string {
	return fmt.Sprintf(`apiVersion: v1
kind: Config
clusters:
  - name: realcluster
    cluster: {server: %q, certificate-authority: %q}
users:
  - name: user
    user: {token: %q}
contexts:
  - name: realcluster
    context: {cluster: realcluster, user: user}
current-context: realcluster
`, url, caFile, token)
}
