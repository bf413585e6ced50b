package main

import (
	"context"
	"crypto/rand"
	"crypto/tls"
	"encoding/hex"
	"errors"
	"flag"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"go.etcd.io/etcd/server/v3/embed"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"cronjob-monitor.io/realcluster/certificates"
	"cronjob-monitor.io/realcluster/kubelet"
)

// A cluster is the control plane with all its parts.
type cluster struct {
	dir             string
	etcd            *embed.Etcd
	etcdURL         string
	address         string
	services        string
	machines        bool
	port            int
	controllersPort int
	token           string
	apiServer       *child
	controllers     *child
	kubelet         *kubelet.Kubelet
}

type settings struct {
	dir            string
	podBackOff     time.Duration
	restartBackOff time.Duration
	nodes          string
	address        string
	services       string
	keep           bool
}

func readSettings(arguments []string) (settings, error) {
	var s settings
	flags := flag.NewFlagSet("run", flag.ContinueOnError)
	flags.StringVar(&s.dir, "dir", "", "folder for data, keys and logs; it must be empty")
	flags.DurationVar(&s.podBackOff, "pod-backoff", 10*time.Second, "wait of the Job controller before it replaces a failed pod")
	flags.DurationVar(&s.restartBackOff, "restart-backoff", time.Second, "wait of the kubelet before it restarts a container the second time")
	flags.StringVar(&s.nodes, "nodes", "node-1,node-2,node-3", "names of the nodes")
	flags.StringVar(&s.address, "machines-address", "", "the nodes are machines, which reach the API server at this address of ours; no kubelet plays pods")
	flags.StringVar(&s.services, "services", "10.96.0.0/16", "addresses of Services")
	flags.BoolVar(&s.keep, "keep", false, "leave the folder behind at the end")
	if err := flags.Parse(arguments); err != nil {
		return s, err
	}
	if s.dir == "" {
		return s, errors.New("-dir is needed")
	}
	return s, nil
}

func (s settings) machines() bool { return s.address != "" }

func (s settings) nodeNames() []string { return strings.Split(s.nodes, ",") }

// startCluster brings everything up; it returns when a CronJob could be created and would run.
func startCluster(ctx context.Context, s settings) (*cluster, error) {
	c := &cluster{dir: s.dir, address: "127.0.0.1", services: s.services, machines: s.machines()}
	if c.machines {
		c.address = s.address
	}
	if err := c.prepare(s.nodeNames()); err != nil {
		return nil, err
	}
	var err error
	if c.etcd, c.etcdURL, err = startEtcd(filepath.Join(s.dir, "etcd")); err != nil {
		return nil, err
	}
	c.apiServer = &child{name: "kube-apiserver", args: c.apiServerArguments(), logFile: c.file("kube-apiserver.log")}
	c.controllers = &child{
		name: "kube-controller-manager", args: c.controllerArguments(), logFile: c.file("kube-controller-manager.log"),
		env: []string{"REALCLUSTER_POD_BACKOFF=" + s.podBackOff.String()},
	}
	if err := c.startAPIServer(ctx); err != nil {
		c.stop()
		return nil, err
	}
	if err := c.startRest(ctx, s); err != nil {
		c.stop()
		return nil, err
	}
	return c, nil
}

// prepare writes keys, tokens and kubeconfigs, and chooses ports.
func (c *cluster) prepare(nodes []string) error {
	if err := os.MkdirAll(c.dir, 0o700); err != nil {
		return err
	}
	authority, err := certificates.NewAuthority("realcluster")
	if err != nil {
		return err
	}
	addresses, err := c.servingAddresses()
	if err != nil {
		return err
	}
	certificate, key, err := authority.ServingPEM("kube-apiserver", addresses...)
	if err != nil {
		return err
	}
	signing, err := certificates.SigningKeyPEM()
	if err != nil {
		return err
	}
	if c.port, err = freePort(); err != nil {
		return err
	}
	if c.controllersPort, err = freePort(); err != nil {
		return err
	}
	c.token = randomText()
	controllersToken := randomText()
	files := map[string]string{
		"ca.crt": string(authority.PEM()), "apiserver.crt": string(certificate), "apiserver.key": string(key),
		"service-account.key": string(signing),
		"tokens.csv": fmt.Sprintf("%s,admin,admin,system:masters\n%s,system:kube-controller-manager,controllers,system:masters\n",
			c.token, controllersToken),
		"kubeconfig":             kubeconfigText(c.url(), c.file("ca.crt"), c.token),
		"controllers.kubeconfig": kubeconfigText(c.url(), c.file("ca.crt"), controllersToken),
	}
	if c.machines {
		c.addMachines(files, nodes)
	}
	for name, text := range files {
		if err := os.WriteFile(c.file(name), []byte(text), 0o600); err != nil {
			return err
		}
	}
	return nil
}

// servingAddresses are those by which the API server is called besides loopback: its own, and that of its Service.
func (c *cluster) servingAddresses() ([]net.IP, error) {
	if !c.machines {
		return nil, nil
	}
	_, services, err := net.ParseCIDR(c.services)
	if err != nil {
		return nil, err
	}
	first := services.IP.To4()
	if first == nil {
		return nil, fmt.Errorf("-services has to be IPv4 addresses, not %s", c.services)
	}
	return []net.IP{net.ParseIP(c.address), net.IPv4(first[0], first[1], first[2], first[3]+1)}, nil
}

// addMachines adds a token and a kubeconfig for each program of a machine: NODE.kubeconfig, kube-proxy.kubeconfig, kube-scheduler.kubeconfig.
func (c *cluster) addMachines(files map[string]string, nodes []string) {
	accounts := [][2]string{{"kube-proxy", "system:kube-proxy,kube-proxy,"}, {"kube-scheduler", "system:kube-scheduler,kube-scheduler,"}}
	for _, node := range nodes {
		accounts = append(accounts, [2]string{node, "system:node:" + node + "," + node + ",system:nodes"})
	}
	for _, account := range accounts {
		token := randomText()
		files["tokens.csv"] += strings.TrimSuffix(token+","+account[1], ",") + "\n"
		files[account[0]+".kubeconfig"] = kubeconfigText(c.url(), c.file("ca.crt"), token)
	}
}

func (c *cluster) url() string { return fmt.Sprintf("https://%s:%d", c.address, c.port) }

func (c *cluster) startAPIServer(ctx context.Context) error {
	if err := c.apiServer.start(); err != nil {
		return err
	}
	return c.untilHealthy(ctx, c.apiServer, c.url()+"/readyz")
}

func (c *cluster) startControllers(ctx context.Context) error {
	if err := c.controllers.start(); err != nil {
		return err
	}
	return c.untilHealthy(ctx, c.controllers, fmt.Sprintf("https://127.0.0.1:%d/healthz", c.controllersPort))
}

// startRest starts what needs an API server: controllers and kubelet.
func (c *cluster) startRest(ctx context.Context, s settings) error {
	config, err := clientcmd.BuildConfigFromFlags("", c.file("kubeconfig"))
	if err != nil {
		return err
	}
	if err := c.startControllers(ctx); err != nil {
		return err
	}
	if !c.machines {
		if c.kubelet, err = kubelet.New(config, kubelet.Options{Nodes: s.nodeNames(), RestartBackOff: s.restartBackOff}); err != nil {
			return err
		}
		if err := c.kubelet.Start(ctx); err != nil {
			return err
		}
	}
	return untilServiceAccount(ctx, config)
}

// untilServiceAccount waits for the first thing that controllers make: from then on pods can be created.
func untilServiceAccount(ctx context.Context, config *rest.Config) error {
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	for {
		_, err := client.CoreV1().ServiceAccounts("default").Get(ctx, "default", metav1.GetOptions{})
		if err == nil {
			return nil
		}
		select {
		case <-time.After(50 * time.Millisecond):
		case <-ctx.Done():
			return fmt.Errorf("the controllers made no service account: %w", err)
		}
	}
}

// untilHealthy asks a health endpoint until it says 200, the process has ended, or the context has.
func (c *cluster) untilHealthy(ctx context.Context, process *child, url string) error {
	// Health is all that is asked here; who uses the cluster checks the certificate by the CA of the ready line.
	client := &http.Client{
		Timeout:   2 * time.Second,
		Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, DisableKeepAlives: true},
	}
	for {
		response, err := client.Get(url)
		if err == nil {
			_ = response.Body.Close()
			if response.StatusCode == http.StatusOK {
				return nil
			}
		}
		if gone, problem := process.gone(); gone {
			return fmt.Errorf("%s ended by itself (%v); its output: %s", process.name, problem, process.logFile)
		}
		select {
		case <-time.After(50 * time.Millisecond):
		case <-ctx.Done():
			return fmt.Errorf("%s is not healthy in time; its output: %s", process.name, process.logFile)
		}
	}
}

func (c *cluster) stop() {
	_ = c.controllers.stop(true)
	_ = c.apiServer.stop(true)
	c.etcd.Close()
}

// freePort finds a port below the usual ephemeral range, so that no outgoing connection takes it while a server restarts.
func freePort() (int, error) {
	for range 200 {
		var random [2]byte
		if _, err := rand.Read(random[:]); err != nil {
			return 0, err
		}
		port := 20000 + (int(random[0])<<8+int(random[1]))%12000
		listener, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port))
		if err != nil {
			continue
		}
		return port, listener.Close()
	}
	return 0, errors.New("no free port")
}

func randomText() string {
	var random [24]byte
	_, _ = rand.Read(random[:]) // since Go 1.24 it never fails
	return hex.EncodeToString(random[:])
}
